"""Fills `auto` in the settings from the language's catalogue: persona, instruction, word lists.

In: the settings as a tree, before they are checked. Out: the same tree with text in place of
`auto`.
"""

from __future__ import annotations

from typing import Any

from appliance.language.catalogue import SOURCE, catalogue
from appliance.language.codes import NAMES

ANY = "auto"  # `language`: the language that is spoken; other settings: the catalogue's text
_LISTS = {
    "yield": "words-yield",
    "carry_on": "words-carry-on",
    "stop": "words-stop",
    "repeat": "words-repeat",
}


def fill_in(tree: dict[str, Any]) -> None:
    """Change `tree` in place. A value of the wrong type is left as it is; the check refuses it."""
    language, thinking = tree["language"], tree["thinking"]
    code = language if isinstance(language, str) and language in NAMES else SOURCE
    sentences = catalogue(code)
    if thinking["persona"] == ANY:
        language_name = (
            sentences.say("language-name") if sentences.language == code else NAMES[code]
        )
        which_language = (
            sentences.say("persona-any-language")
            if language == ANY
            else sentences.say("persona-one-language", language=language_name)
        )
        thinking["persona"] = f"{sentences.say('persona')} {which_language}"
    if thinking["instruction"] == ANY:
        thinking["instruction"] = sentences.say("instruction")
    word_lists = tree["hearing"]["words"]
    for name, key in _LISTS.items():
        if word_lists[name] == ANY:
            word_lists[name] = list(sentences.list(key))
