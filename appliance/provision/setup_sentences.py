"""Sentences that the box says about its network and its set-up. Pure.

Digits are separated, so that the voice does not say them as one number. Each word of the password
is a sentence of its own, so that there is a pause to type it in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.language.catalogue import BoxSentence, Catalogue
from appliance.provision.network_manager import ADDRESS

# A sentence of the catalogue, or untranslated text, such as the message of another program.
Sentence = BoxSentence | str

ASKED = BoxSentence("setup-asked")
NO_NETWORK = BoxSentence("setup-no-network")
NEEDS_CABLE = BoxSentence("setup-needs-cable")
NEEDS_SEED = BoxSentence("setup-needs-seed")
BY_CABLE = BoxSentence("setup-by-cable")  # not set up yet, and in a network by cable


def in_words(sentence: Sentence, words: Catalogue) -> str:
    return sentence if isinstance(sentence, str) else sentence.text(words)


def spoken(name: str, words: Catalogue) -> str:
    """A host name with its dashes and dots as words."""
    dash, dot = words.say("sign-dash"), words.say("sign-dot")
    return name.replace("-", f" {dash} ").replace(".", f" {dot} ")


def misnamed(name: str, words: Catalogue) -> str:
    """The warning about a file on the card whose name is similar to a seed's."""
    return words.say("setup-file-misnamed", name=name)


def card_says(problem: str, words: Catalogue) -> str:
    """The warning about an invalid seed, with the dots in file names as words."""
    dot = words.say("sign-dot")
    said = re.sub(r"(?<=[a-z])\.(?=[a-z])", f" {dot} ", problem)
    return words.say("setup-card-unusable", problem=said)


def called(name: str, words: Catalogue) -> str:
    return words.say("setup-called", name=spoken(name, words)) if name else ""


def other_name(wanted: str, name: str, words: Catalogue) -> str:
    """The box is called `name`, since another machine in the network has the name `wanted`."""
    return words.say("setup-other-name", wanted=spoken(wanted, words), name=spoken(name, words))


def invitation(why: str, name: str, password: Sequence[str], words: Catalogue) -> str:
    """How to join the set-up Wi-Fi. `name`: Interlude and four digits; `password`: words or groups
    of digits, typed without spaces."""
    digits = all(part.isdecimal() for part in password)
    spoken_parts = (" ".join(part) if digits else part.capitalize() for part in password)
    join = words.say(
        "setup-join",
        number=" ".join(name.removeprefix("Interlude ")),
        kind="digits" if digits else "words",
        words=". ".join(spoken_parts),
        address=ADDRESS.replace(".", f" {words.say('sign-dot')} "),
    )
    return f"{why} {join}".strip()
