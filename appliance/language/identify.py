"""Which language a sentence is in. The only user of py3langid, whose model lies in its wheel.

In: text. Out: a language's code, or none where the text is too short to tell: then whoever asks
keeps to the language of before. docs/architecture/decisions.md has what was measured.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from lzma import LZMAError

from appliance.language.codes import base
from appliance.language.langid_model import read_model

# A sentence is in the likeliest language if its probability is at least that. Of 240 short
# sentences in ten languages then none is taken for a third one, and of those in another language
# than the sentence before 96 of 100 are found (tests/language/test_identify.py).
SURE = 0.5
# Those that are told apart: each that a voice of Piper speaks, and those that have a script of
# their own. The fewer there are, the fewer are mistaken for another.
TOLD_APART = frozenset(
    "am ar bg bn ca cs cy da de el en es et eu fa fi fr gu he hi hr hu hy id is it ja ka kk kn ko "
    "lb lt lv ml mr my nb ne nl pa pl pt ro ru si sk sl sq sr sv sw ta te th tr uk ur vi zh".split()
)


log = logging.getLogger("speaker")


class LanguageIdentifier:
    """Loads its model in a thread: that takes a second, and nobody waits for it.

    Of a single language there is nothing to tell: then no model is loaded, and `identify` says "".
    """

    def __init__(self, languages: Iterable[str] = TOLD_APART) -> None:
        self._languages = frozenset(languages)
        self._network: object = None
        self._loading = threading.Thread(target=self._load, name="languages", daemon=True)

    def start(self) -> None:
        """Returns at once."""
        if len(self._languages) > 1:
            self._loading.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """At most so long, until it can tell, or has found that it never will. Whether it has."""
        if self._loading.ident is not None:
            self._loading.join(timeout_s)
        return not self._loading.is_alive()

    def identify(self, text: str) -> str:
        """ISO 639; "" where it cannot be told, or not yet."""
        if self._network is None:
            return ""
        code, probability = self._network.classify(text)  # type: ignore[attr-defined]
        return base(code) if probability >= SURE else ""

    def _load(self) -> None:
        from py3langid import langid  # with numpy's, 0.2 s

        try:
            model = read_model(langid.MODEL_DIR / langid.MODEL_FILE, self._languages)
        except (OSError, ValueError, EOFError, LZMAError) as error:
            log.warning("languages are not told apart: %s", error)
            return
        self._network = langid.LanguageIdentifier(
            model.ptc,
            model.pc,
            model.classes,
            model.nextmove,
            model.out_feat,
            norm_probs=True,
            tk_row=model.nextmove_row,
        )
