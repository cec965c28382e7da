"""What the page says, in English and German: a file a language (sentences/), a key a sentence."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

FOLDER = Path(__file__).with_name("sentences")
LANGUAGES = ("en", "de")
NOTICES = ("access.", "settings.", "own.", "try.")  # keys that a page may be asked to show


@functools.cache
def sentences(language: str) -> dict[str, str]:
    """All sentences of one language by their keys."""
    data = (FOLDER / f"{language}.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, str])


class Texts:
    """The sentences of one of LANGUAGES."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._rows = sentences(language)

    @classmethod
    def wanted(cls, accepted: str) -> Texts:
        """In the first language of an Accept-Language header that there is; else English."""
        for word in accepted[:200].split(","):
            name = word.partition(";")[0].strip().lower().partition("-")[0]
            if name in LANGUAGES:
                return cls(name)
        return cls("en")

    def __call__(self, key: str, **words: object) -> str:
        """Raises KeyError for a sentence that there is not."""
        return self._rows[key].format(**words)

    def known(self, key: str) -> str:
        """The sentence of a key that a stranger may have made up; then ""."""
        return self(key) if key in self._rows and key.startswith(NOTICES) else ""

    def of(self, prefix: str) -> dict[str, str]:
        """Every sentence whose key begins so, without its beginning: for the script."""
        found = self._rows.items()
        return {key.removeprefix(prefix): row for key, row in found if key.startswith(prefix)}
