"""Classifies a recognised text by the owner's lists of words. Pure."""

from __future__ import annotations

import re

from appliance.messages.hearing import PhraseKind
from appliance.settings import WordsSettings


def plain(text: str) -> str:
    """Normalise text: lower case, single spaces, only letters, apostrophes and hyphens."""
    return " ".join(re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", text.lower().replace("’", "'")))


def kind_of(text: str, words: WordsSettings) -> PhraseKind:
    """The kind of `text` by the lists `words`.

    Interrupting phrases count at any place in the text ("okay but wait"). The others count only if
    the text consists of nothing else ("yeah right", not "right what about me"). "stop" is a text of
    one or more stop phrases and nothing else: "stop the music" is for the model. "repeat" likewise.
    """
    said = plain(text).split()
    if not said:
        return "other"
    if _made_of(said, words.stop):
        return "stop"
    if _made_of(said, words.repeat):
        return "repeat"
    calls = (*words.yields, *words.stop, *words.repeat)
    if any(_holds(said, phrase.split()) for phrase in calls):
        return "yield"
    return "carry_on" if _made_of(said, words.carry_on) else "other"


def _holds(said: list[str], phrase: list[str]) -> bool:
    size = len(phrase)
    return any(said[at : at + size] == phrase for at in range(len(said) - size + 1))


def _made_of(said: list[str], phrases: tuple[str, ...]) -> bool:
    """Whether `said` is a sequence of these phrases and nothing else."""
    ends = {0}
    for end in range(1, len(said) + 1):
        for phrase in phrases:
            size = len(phrase.split())
            if end - size in ends and said[end - size : end] == phrase.split():
                ends.add(end)
    return len(said) in ends
