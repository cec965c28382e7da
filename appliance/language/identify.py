"""Identifies the language of a sentence. The only user of py3langid, whose wheel has the model.

In: text. Out: a language's code, or "" where the text is too short to tell: then the caller keeps
the previous language. docs/architecture/decisions.md has the measurements.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from lzma import LZMAError

from appliance.language.codes import base
from appliance.language.langid_model import read_model

# Least probability at which the likeliest language is accepted. Of 240 short sentences in ten
# languages then none is taken for a third language, and of those in another language than the
# sentence before, 96 of 100 are recognised (tests/language/test_identify.py).
SURE = 0.5
# The languages that are distinguished: those of Piper's voices, and those with a script of their
# own. Fewer languages mean fewer confusions.
DISTINGUISHED = frozenset(
    "am ar bg bn ca cs cy da de el en es et eu fa fi fr gu he hi hr hu hy id is it ja ka kk kn ko "
    "lb lt lv ml mr my nb ne nl pa pl pt ro ru si sk sl sq sr sv sw ta te th tr uk ur vi zh".split()
)


log = logging.getLogger("speaker")


class LanguageIdentifier:
    """Identifies languages; its model is loaded in a thread, which takes about a second.

    With a single language there is nothing to distinguish: it loads no model, and `identify`
    returns "".
    """

    def __init__(self, languages: Iterable[str] = DISTINGUISHED) -> None:
        self._languages = frozenset(languages)
        self._model: object = None
        self._loading = threading.Thread(target=self._load, name="languages", daemon=True)

    def start(self) -> None:
        """Start to load the model. Returns at once."""
        if len(self._languages) > 1:
            self._loading.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the model, at most `timeout_s`. Returns whether loading has ended, also if it
        has failed."""
        if self._loading.ident is not None:
            self._loading.join(timeout_s)
        return not self._loading.is_alive()

    def identify(self, text: str) -> str:
        """ISO 639 code; "" if the probability is too low, or while no model is loaded."""
        if self._model is None:
            return ""
        code, probability = self._model.classify(text)  # type: ignore[attr-defined]
        return base(code) if probability >= SURE else ""

    def _load(self) -> None:
        from py3langid import langid  # takes 0.2 s, with the import of numpy

        try:
            tables = read_model(langid.MODEL_DIR / langid.MODEL_FILE, self._languages)
        except (OSError, ValueError, EOFError, LZMAError) as error:
            log.warning("languages cannot be identified: %s", error)
            return
        self._model = langid.LanguageIdentifier(
            tables.ptc,
            tables.pc,
            tables.classes,
            tables.nextmove,
            tables.out_feat,
            norm_probs=True,
            tk_row=tables.nextmove_row,
        )
