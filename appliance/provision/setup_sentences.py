"""What the box says aloud of its network and its set-up. Pure.

Digits are said one by one, or they would be said as a number; the password word by word, each of
them a sentence, so that there is a pause to type it in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from appliance.provision.network_manager import ADDRESS
from appliance.runtime.mdns import spoken

ASKED = "I am ready to be set up."
NO_NETWORK = "I have no network."
NEEDS_CABLE = "I have no network. Plug in a network cable."
NEEDS_SEED = (
    "Nobody has set me up yet. Switch me off, and put a file named interlude dot yaml on my card."
)
OVER = "Set-up is over."


def misnamed(name: str) -> str:
    """A file on the card that its owner may have meant for the box. `name`: as it is written."""
    return f"The file {name} on the card is not read. Put what it says into interlude.yaml."


def card_says(problem: str) -> str:
    """What on the card could not be used, aloud, with the dots of its name said."""
    said = re.sub(r"(?<=[a-z])\.(?=[a-z])", " dot ", problem)
    return f"What this card says of me cannot be used. {said}"


def by_cable(name: str) -> str:
    """A box that nobody has set up, in a network by its cable."""
    return f"I am in your network by cable. {called(name)}".strip()


def called(name: str) -> str:
    return f"My name there is {spoken(name)}." if name else ""


def other_name(wanted: str, name: str) -> str:
    """Two machines of one network want one name; this one came later."""
    return (
        f"Another machine in your network is called {spoken(wanted)}, too. "
        f"My name there is {spoken(name)}."
    )


def invitation(why: str, name: str, password: Sequence[str]) -> str:
    """How to join the box's own Wi-Fi. `name`: Interlude and four digits."""
    number = " ".join(name.removeprefix("Interlude "))
    said = ". ".join(word.capitalize() for word in password)
    return (
        f"{why} To set me up with a phone, join the Wi-Fi named Interlude {number}. "
        f"Its password is five words, typed as one, in small letters, without spaces. "
        f"They are: {said}. "
        f"Then open {ADDRESS.replace('.', ' dot ')} in the browser, if no page opens by itself."
    )
