"""Settings of a box in English, for tests that need no language detection.

By default the speaker first loads a model that identifies the language of a sentence, one of sixty.
That takes half a second of processor time for each box. tests/voice, tests/language and the
demo of tests/lab/sim/test_rehearsal.py test that detection.
"""

from __future__ import annotations

import os
from pathlib import Path

from appliance import settings

ENGLISH = settings.load(Path(os.devnull), {"language": "en"})
# With the voice that costs least, for tests in which the box only has to talk: the start of the
# default one takes half a second of processor time, and its speech 0.03 s a second.
ESPEAK = settings.load(Path(os.devnull), {"language": "en", "speaking": {"voice": "espeak"}})
