"""What the page says, out of the box's own catalogue, in the language that a browser asks for."""

from __future__ import annotations

from appliance.language.catalogue import Value, catalogue, languages

NOTICES = "page-notice-"  # beginning of the keys that a page may be asked to show


class Texts:
    """The sentences of one language."""

    def __init__(self, language: str) -> None:
        self._words = catalogue(language)
        self.language = self._words.language

    @classmethod
    def wanted(cls, accepted: str, own: str = "en") -> Texts:
        """In the first language of an Accept-Language header that there is; else in `own`."""
        for word in accepted[:200].split(","):
            name = word.partition(";")[0].strip().lower().partition("-")[0]
            if name in languages():
                return cls(name)
        return cls(own)

    def __call__(self, key: str, **values: Value) -> str:
        """Raises KeyError for a sentence that there is not, or a value that it lacks."""
        return self._words.say(key, **values)

    def notice(self, key: str, **values: Value) -> str:
        """The sentence of a key that a stranger may have made up; then "", and so where it lacks a
        value."""
        if not key.startswith(NOTICES) or key not in self._words:
            return ""
        try:
            return self(key, **values)
        except KeyError:
            return ""

    def templates(self, prefix: str) -> dict[str, str]:
        """Every sentence whose key begins so, without its beginning: for the script."""
        found = self._words.templates(prefix)
        return {key.removeprefix(prefix): text for key, text in found.items()}
