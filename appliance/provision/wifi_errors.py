"""Why a Wi-Fi did not let the box in: NetworkManager's words → a sentence for its owner. Pure.

The words are those of nmcli's device reasons (NetworkManager 1.42 and 1.52), which
`Error: Connection activation failed: …` ends with.
"""

from __future__ import annotations

# In order: the first that is found counts. {} is the Wi-Fi's name.
REASONS: tuple[tuple[str, str], ...] = (
    ("secrets were", "The Wi-Fi {} does not take the password that I have."),
    ("no valid secrets", "The Wi-Fi {} does not take the password that I have."),
    ("network could not be found", "The Wi-Fi {} is not in reach."),
    ("no network with ssid", "The Wi-Fi {} is not in reach."),
    ("supplicant disconnected",
     "The Wi-Fi {} sends me away: its password may have changed, or it takes no new devices."),
    ("supplicant took too long",
     "The Wi-Fi {} does not answer in time: it is far away, or its password has changed."),
    ("ip configuration could not be reserved", "The Wi-Fi {} lets me in and gives me no address."),
    ("dhcp", "The Wi-Fi {} lets me in and gives me no address."),
    ("timeout expired", "The Wi-Fi {} does not let me in within the time that I wait."),
)  # fmt: skip
OTHERWISE = "I cannot join the Wi-Fi {}."


def sentence(wifi: str, said: str) -> str:
    """`wifi`: its name as its owner knows it; `said`: what nmcli did."""
    words = said.lower()
    found = next((sentence for part, sentence in REASONS if part in words), OTHERWISE)
    return found.format(wifi)
