"""Fills `auto` in the settings from the language's catalogue: persona, instruction, word lists.

In: the settings as a tree, before they are checked. Out: the same tree with text in place of
`auto`.
"""

from __future__ import annotations

from typing import Any

from appliance.language.catalogue import SOURCE, catalogue
from appliance.language.codes import NAMES

ANY = "auto"  # `language`: the language that is spoken; other settings: the catalogue's text
_LISTS = {"yield": "words-yield", "carry_on": "words-carry-on", "stop": "words-stop"}


def fill_in(tree: dict[str, Any]) -> None:
    """Change `tree` in place. A value of the wrong type is left as it is; the check refuses it."""
    language, thinking = tree["language"], tree["thinking"]
    own = language if isinstance(language, str) and language in NAMES else SOURCE
    words = catalogue(own)
    if thinking["persona"] == ANY:
        named = words.say("language-name") if words.language == own else NAMES[own]
        in_which = (
            words.say("persona-any-language")
            if language == ANY
            else words.say("persona-one-language", language=named)
        )
        thinking["persona"] = f"{words.say('persona')} {in_which}"
    if thinking["instruction"] == ANY:
        thinking["instruction"] = words.say("instruction")
    spotted = tree["hearing"]["words"]
    for name, key in _LISTS.items():
        if spotted[name] == ANY:
            spotted[name] = list(words.list(key))
