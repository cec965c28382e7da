"""Each language's file is checked against English, and English against the keys in the source."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.language.catalogue import FOLDER, SOURCE, Catalogue, catalogue, languages
from appliance.language.patterns import Choice, Pattern, Reference, variables
from appliance.runtime.process_table import PROCESSES

ROOT = Path(__file__).parents[2]
WHOLE = ("de",)  # languages that have every key
# Sentences that may use other values than English does: a 24-hour clock has no a.m. and p.m.
CHOOSES = {"clock", "clock-of-day", "when"}
LISTS = {"number-words": 60, "day-words": 31, "weekday-words": 7, "month-words": 12}
FILES = sorted(
    path
    for path in (ROOT / "appliance").rglob("*")
    if path.suffix in (".py", ".html", ".js") and path.parent != FOLDER / "__pycache__"
)
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
ENGLISH = catalogue(SOURCE)
ASKS = re.compile(r"\b_?say\(|\blist\(|\bBoxSentence\b|\bShownAs\.of\(")


def asked_in_sources() -> Iterator[tuple[str, str, set[str]]]:
    """Each call that requests a sentence by a literal key: place, key, names of values."""
    for path in FILES:
        source = path.read_text(encoding="utf-8")
        if path.suffix != ".py" or not ASKS.search(source):
            continue  # four of five files: to parse all takes a second
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            key = node.args[0]
            if name not in ("say", "_say", "list", "BoxSentence", "of"):
                continue
            if name == "of" and ast.unparse(node.func) not in ("BoxSentence.of", "ShownAs.of"):
                continue
            for literal in (key.body, key.orelse) if isinstance(key, ast.IfExp) else (key,):
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield place, literal.value, {word.arg or "**" for word in node.keywords}


@functools.cache  # not at import: every pytest worker imports this module, one runs its tests
def calls() -> list[tuple[str, str, set[str]]]:
    return list(asked_in_sources())


def every_pattern(pattern: Pattern) -> Iterator[Pattern]:
    yield pattern
    for part in pattern:
        if isinstance(part, Choice):
            for variant in (*part.variants.values(), part.default):
                yield from every_pattern(variant)


def needed(words: Catalogue, key: str) -> set[str]:
    """The names of the values of a message and of the messages that it references."""
    pattern = words.messages[key]
    found = set(variables(pattern))
    for sub_pattern in every_pattern(pattern):
        for part in sub_pattern:
            if isinstance(part, Reference):
                found |= needed(words, part.name)
    return found


def referred(words: Catalogue) -> set[str]:
    return {
        part.name
        for pattern in words.messages.values()
        for sub_pattern in every_pattern(pattern)
        for part in sub_pattern
        if isinstance(part, Reference)
    }


# ── keys used in the source ──────────────────────────────────────────────────────────────────────
@pytest.mark.long
def test_the_scan_of_the_source_finds_calls() -> None:
    assert len({key for _, key, _ in calls()}) > 60


@pytest.mark.long
def test_every_key_used_in_the_source_exists_in_english() -> None:
    assert [(place, key) for place, key, _ in calls() if key not in ENGLISH.messages] == []


@pytest.mark.long
def test_every_call_passes_the_values_that_the_english_sentence_names() -> None:
    wrong = [
        (place, key, sorted(needed(ENGLISH, key) - given))
        for place, key, given in calls()
        if "**" not in given and not needed(ENGLISH, key) <= given
    ]
    assert wrong == []


def test_every_english_key_is_used() -> None:
    """A key is used if the source has it in full, or has its prefix in an f-string."""
    families = tuple(
        set(re.findall(r'f"([a-z][a-z-]*-)\{', TEXT))
        | set(re.findall(r'templates\("([a-z-]+)"', TEXT))
    )
    used = referred(ENGLISH) | set(re.findall(r"[\w-]+", TEXT))
    unused = [key for key in ENGLISH.messages if key not in used and not key.startswith(families)]
    assert unused == []


# ── other languages ──────────────────────────────────────────────────────────────────────────────
OTHERS = [language for language in languages() if language != SOURCE]


def test_german_exists() -> None:
    assert set(WHOLE) <= set(OTHERS)


@pytest.mark.parametrize("language", WHOLE)
def test_a_complete_language_has_every_key(language: str) -> None:
    assert [key for key in ENGLISH.messages if key not in catalogue(language).messages] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_no_unused_key(language: str) -> None:
    words = catalogue(language)
    own = words.messages.keys() - ENGLISH.messages.keys()
    assert own - referred(words) == set()


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_names_the_same_values_as_english(language: str) -> None:
    words = catalogue(language)
    differ = {
        key: (sorted(needed(words, key)), sorted(needed(ENGLISH, key)))
        for key in words.messages.keys() & ENGLISH.messages.keys() - CHOOSES
        if needed(words, key) - needed(ENGLISH, key)
        or (needed(ENGLISH, key) - needed(words, key)) - {"words", "count"}
    }
    assert differ == {}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.long
def test_sentences_with_other_values_than_english_get_the_values_they_name(language: str) -> None:
    words = catalogue(language)
    wrong = [
        (place, key, sorted(needed(words, key) - given))
        for place, key, given in calls()
        if key in CHOOSES and not needed(words, key) <= given
    ]
    assert wrong == []


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("key", LISTS)
def test_a_list_of_words_is_complete_or_empty(language: str, key: str) -> None:
    assert len(catalogue(language).list(key)) in (0, LISTS[key])


@pytest.mark.parametrize("language", languages())
def test_every_reference_has_its_message(language: str) -> None:
    words = catalogue(language)
    assert [name for name in referred(words) if name not in words] == []


@pytest.mark.parametrize("language", languages())
def test_no_spoken_sentence_has_a_sign_that_cannot_be_spoken(language: str) -> None:
    texts = {
        key: part
        for key, pattern in catalogue(language).messages.items()
        if not key.startswith(("setup-page-", "page-"))
        for sub_pattern in every_pattern(pattern)
        for part in sub_pattern
        if isinstance(part, str)
    }
    assert {key: text for key, text in texts.items() if re.search(r"[^\w ,.:;'’?!-]", text)} == {}


@pytest.mark.parametrize("language", languages())
def test_every_part_has_its_name_in_every_language(language: str) -> None:
    """The page names each row of the process table; the box says only those that it needs."""
    names = {f"page-part-{row.name}" for row in PROCESSES}
    names |= {f"part-{row.name}" for row in PROCESSES if row.needed}
    assert names - catalogue(language).messages.keys() == set()
