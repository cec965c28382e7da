"""Rule-based intents, for when there is no model: words in, a tool call or nothing out. Pure.

Plain tables, one a language. What they do not have to the word is left to the model, however like
it sounds: a wrong guess is worse than "ask me again in a moment".
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance.language.catalogue import SOURCE
from appliance.tools import english_requests, german_requests
from appliance.tools.request_grammar import RequestGrammar
from appliance.tools.tool_call_syntax import ToolCall

GRAMMARS: dict[str, RequestGrammar] = {
    "en": english_requests.GRAMMAR,
    "de": german_requests.GRAMMAR,
}


@dataclass(frozen=True)
class PlainRequest:
    """`language`: that it was made in."""

    call: ToolCall
    language: str


def parse_intent(text: str, first: str = SOURCE) -> PlainRequest | None:
    """What the owner asks for, if that is beyond doubt. `first`: the language to try first."""
    for language in _from(first):
        call = GRAMMARS[language].parse(text)
        if call is not None:
            return PlainRequest(call, language)
    return None


def parse_number(text: str, language: str = SOURCE) -> float | None:
    """The number that words or digits mean, in `language` or else in English."""
    found = (GRAMMARS[each].number(text) for each in dict.fromkeys((language, SOURCE))
             if each in GRAMMARS)  # fmt: skip
    return next((number for number in found if number is not None), None)


def parse_clock(text: str, language: str = SOURCE) -> str | None:
    """The time of day that words mean, as "07:30", in `language` or else in English."""
    for each in dict.fromkeys((language, SOURCE)):
        if each in GRAMMARS and (found := GRAMMARS[each].clock(text.strip().lower())) is not None:
            return found
    return None


def _from(first: str) -> list[str]:
    return [each for each in dict.fromkeys((first, *GRAMMARS)) if each in GRAMMARS]
