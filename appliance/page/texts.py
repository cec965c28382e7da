"""The page's texts from the box's catalogue, in the language that a browser requests."""

from __future__ import annotations

from appliance.language.catalogue import Value, catalogue, languages

NOTICES = "page-notice-"  # prefix of the keys that may be given in a query


class Texts:
    """The sentences of one language."""

    def __init__(self, language: str) -> None:
        self._words = catalogue(language)
        self.language = self._words.language

    @classmethod
    def wanted(cls, accepted: str, own: str = "en") -> Texts:
        """Texts in the first available language of an Accept-Language header, else in `own`."""
        for word in accepted[:200].split(","):
            name = word.partition(";")[0].strip().lower().partition("-")[0]
            if name in languages():
                return cls(name)
        return cls(own)

    def __call__(self, key: str, **values: Value) -> str:
        """The sentence of a key. Raises KeyError for an unknown key or a missing value."""
        return self._words.say(key, **values)

    def notice(self, key: str, **values: Value) -> str:
        """The sentence of an untrusted key; "" for an unknown key or a missing value."""
        if not key.startswith(NOTICES) or key not in self._words:
            return ""
        try:
            return self(key, **values)
        except KeyError:
            return ""

    def templates(self, prefix: str) -> dict[str, str]:
        """Sentences whose key has the prefix, by the rest of the key, for the script."""
        found = self._words.templates(prefix)
        return {key.removeprefix(prefix): text for key, text in found.items()}
