"""Settings of a box in English: for whoever starts one and tells no languages apart.

By default the speaker reads a model first that tells which of sixty languages a sentence is in:
half a second of a processor for each box. tests/voice, tests/language and the talk of
tests/lab/sim/test_rehearsal.py have it.
"""

from __future__ import annotations

import os
from pathlib import Path

from appliance import settings

ENGLISH = settings.load(Path(os.devnull), {"language": "en"})
