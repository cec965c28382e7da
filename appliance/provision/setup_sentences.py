"""What the box says aloud of its network and its set-up. Pure.

Digits are said one by one, or they would be said as a number; the password word by word, each of
them a sentence, so that there is a pause to type it in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.language.catalogue import BoxSentence, Catalogue
from appliance.provision.network_manager import ADDRESS

# Of the box's own catalogue; or words as they are, which are another program's.
Sentence = BoxSentence | str

ASKED = BoxSentence("setup-asked")
NO_NETWORK = BoxSentence("setup-no-network")
NEEDS_CABLE = BoxSentence("setup-needs-cable")
NEEDS_SEED = BoxSentence("setup-needs-seed")
BY_CABLE = BoxSentence("setup-by-cable")  # a box that nobody has set up, in a network by its cable


def in_words(sentence: Sentence, words: Catalogue) -> str:
    return sentence if isinstance(sentence, str) else sentence.text(words)


def spoken(name: str, words: Catalogue) -> str:
    """A name in the network, as a voice says it."""
    dash, dot = words.say("sign-dash"), words.say("sign-dot")
    return name.replace("-", f" {dash} ").replace(".", f" {dot} ")


def misnamed(name: str, words: Catalogue) -> str:
    """A file on the card that its owner may have meant for the box. `name`: as it is written."""
    return words.say("setup-file-misnamed", name=name)


def card_says(problem: str, words: Catalogue) -> str:
    """What on the card could not be used, aloud, with the dots of its name said."""
    dot = words.say("sign-dot")
    said = re.sub(r"(?<=[a-z])\.(?=[a-z])", f" {dot} ", problem)
    return words.say("setup-card-unusable", problem=said)


def called(name: str, words: Catalogue) -> str:
    return words.say("setup-called", name=spoken(name, words)) if name else ""


def other_name(wanted: str, name: str, words: Catalogue) -> str:
    """Two machines of one network want one name; this one came later."""
    return words.say("setup-other-name", wanted=spoken(wanted, words), name=spoken(name, words))


def invitation(why: str, name: str, password: Sequence[str], words: Catalogue) -> str:
    """How to join the box's own Wi-Fi. `name`: Interlude and four digits; `password`: words, or
    groups of digits, typed as one."""
    digits = all(part.isdecimal() for part in password)
    said = (" ".join(part) if digits else part.capitalize() for part in password)
    join = words.say(
        "setup-join",
        number=" ".join(name.removeprefix("Interlude ")),
        kind="digits" if digits else "words",
        words=". ".join(said),
        address=ADDRESS.replace(".", f" {words.say('sign-dot')} "),
    )
    return f"{why} {join}".strip()
