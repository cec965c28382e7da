"""Rule-based intents for requests without a model: text in, a tool call or nothing out. Pure.

There is one table per language. Text that does not match a pattern exactly is left to the model,
however similar it is: a wrong guess is worse than "ask me again in a moment".
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
    """A recognised request. `language`: the language of its text."""

    call: ToolCall
    language: str


def parse_intent(text: str, first: str = SOURCE) -> PlainRequest | None:
    """Parse a request; None if no pattern matches all of it. `first`: language to try first."""
    for language in _languages(first):
        call = GRAMMARS[language].parse(text)
        if call is not None:
            return PlainRequest(call, language)
    return None


def parse_number(text: str, language: str = SOURCE) -> float | None:
    """Parse a number in words or digits, in `language` or else in English."""
    found = (GRAMMARS[name].number(text) for name in dict.fromkeys((language, SOURCE))
             if name in GRAMMARS)  # fmt: skip
    return next((number for number in found if number is not None), None)


def parse_clock(text: str, language: str = SOURCE) -> str | None:
    """Parse a time of day in words to "07:30", in `language` or else in English."""
    for name in dict.fromkeys((language, SOURCE)):
        if name in GRAMMARS and (found := GRAMMARS[name].clock(text.strip().lower())) is not None:
            return found
    return None


def _languages(first: str) -> list[str]:
    return [name for name in dict.fromkeys((first, *GRAMMARS)) if name in GRAMMARS]
