"""The box's own sentences in one language: a key and values in, text out.

Each language is a file beside this one, in Fluent's syntax: `en.ftl`, `de.ftl`. English has every
key (a test checks that); a key that another language lacks is said in English. docs/languages.md
describes how to add a language.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import ShownAs
from appliance.language.codes import base
from appliance.language.patterns import Choice, Pattern, Reference, Variable, variables
from appliance.language.plurals import plural

FOLDER = Path(__file__).parent
_ENTRY = re.compile(r"^([a-z][\w-]*) *=(.*(?:\n(?:[ }].*)?$)*)", re.MULTILINE)
SOURCE = "en"  # the language that has every key
Value = str | int | float


class MessagesOfText(Mapping[str, Pattern]):
    """The messages of a Fluent file, each parsed at its first use; a test parses the complete file.

    Plain text is read without Fluent's parser. Most processes use few of a thousand messages, and
    parsing all of them would take as long as the rest of a command's start.
    """

    def __init__(self, text: str, name: str) -> None:
        """`name`: the file's name, for errors."""
        self._entries = {entry[1]: entry for entry in _ENTRY.finditer(text)}
        self._parsed: dict[str, Pattern] = {}
        self._name = name

    def __getitem__(self, key: str) -> Pattern:
        """The pattern of `key`. Raises KeyError, and CatalogueError if it cannot be parsed."""
        if key not in self._parsed:
            self._parsed[key] = self._parse(self._entries[key])
        return self._parsed[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _parse(self, entry: re.Match[str]) -> Pattern:
        key, source = entry[1], entry[2].strip()
        lines = [line.strip() for line in source.split("\n")]
        if source and not any("{" in line or "}" in line or line[:1] == "." for line in lines):
            return (" ".join(lines),)
        from appliance.language import fluent_file

        line = entry.string.count("\n", 0, entry.start()) + 1
        return fluent_file.parse(f"{key} = {source}", self._name, line)[key]


class Catalogue:
    """Looks up sentences. `language`: of its messages, ISO 639-1. `spare`: catalogue for keys that
    it lacks."""

    def __init__(
        self, language: str, messages: Mapping[str, Pattern], spare: Catalogue | None = None
    ) -> None:
        self.language = language
        self.messages = messages
        self._fallback = spare

    def say(self, key: str, **values: Value) -> str:
        """The message `key`, with `values` for its variables. Raises KeyError for a missing key or
        variable: a bug in the caller, which a test finds."""
        if key not in self.messages and self._fallback is not None:
            return self._fallback.say(key, **values)
        return " ".join(self._text(self.messages[key], values).split())

    def __contains__(self, key: str) -> bool:
        return key in self.messages or (self._fallback is not None and key in self._fallback)

    def list(self, key: str) -> tuple[str, ...]:
        """The items of a message that is a list of words or phrases with commas between them."""
        return tuple(item.strip() for item in self.say(key).split(",") if item.strip())

    def join(self, names: Sequence[str]) -> str:
        """Names joined by commas, with the language's "and" between the last two."""
        *first, last = names
        return self.say("and", first=", ".join(first), last=last) if first else last

    def templates(self, prefix: str) -> dict[str, str]:
        """All messages whose keys begin with `prefix`, with `{name}` for a variable: for the page,
        whose script inserts the values. Raises ValueError for a message with a choice."""
        found = self._fallback.templates(prefix) if self._fallback is not None else {}
        for key in self.messages:
            if key.startswith(prefix):
                pattern = self.messages[key]
                if any(isinstance(part, Choice) for part in pattern):
                    raise ValueError(f"{key} has a choice: it can only be said")
                names = {name: f"{{{name}}}" for name in variables(pattern)}
                found[key] = self.say(key, **names)
        return found

    def _text(self, pattern: Pattern, values: Mapping[str, Value]) -> str:
        return "".join(self._part(part, values) for part in pattern)

    def _part(self, part: str | Variable | Reference | Choice, values: Mapping[str, Value]) -> str:
        match part:
            case str():
                return part
            case Variable(name):
                return _as_text(values[name])
            case Reference(name):
                return self.say(name, **values)
            case Choice(name, variants, default):
                return self._text(self._variant(values[name], variants, default), values)

    def _variant(
        self, value: Value, variants: Mapping[str | float, Pattern], default: Pattern
    ) -> Pattern:
        if isinstance(value, str):
            return variants.get(value, default)
        if value in variants:
            return variants[float(value)]
        category = plural(self.language, int(value)) if value == int(value) else "other"
        return variants.get(category, default)


@dataclass(frozen=True)
class BoxSentence:
    """A sentence of the box before its translation, for code that does not know the language."""

    key: str
    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, key: str, **values: Value) -> BoxSentence:
        return cls(key, tuple(values.items()))

    def text(self, words: Catalogue) -> str:
        return words.say(self.key, **dict(self.values))

    @property
    def shown(self) -> ShownAs:
        """The same sentence as an error carries it."""
        return ShownAs(self.key, dict(self.values))


@functools.cache  # the page asks at every request
def languages() -> tuple[str, ...]:
    """The languages that the box has sentences in: ISO 639-1, English first."""
    others = sorted(path.stem for path in FOLDER.glob("*.ftl") if path.stem != SOURCE)
    return (SOURCE, *others)


@functools.cache
def catalogue(language: str) -> Catalogue:
    """The sentences of `language`, or of English if it has none. A region (de-AT) is ignored."""
    code = base(language)
    if code == SOURCE or code not in languages():
        return Catalogue(SOURCE, _messages(SOURCE))
    return Catalogue(code, _messages(code), catalogue(SOURCE))


def english() -> Catalogue:
    """The English sentences: for the log, the shell, and where no language is set."""
    return catalogue(SOURCE)


@functools.cache
def _messages(language: str) -> Mapping[str, Pattern]:
    path = FOLDER / f"{language}.ftl"
    return MessagesOfText(path.read_text(encoding="utf-8"), path.name)


def _as_text(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
