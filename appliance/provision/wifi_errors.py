"""Why a Wi-Fi did not let the box in: NetworkManager's words → a sentence for its owner. Pure.

The words are those of nmcli's device reasons (NetworkManager 1.42 and 1.52), which
`Error: Connection activation failed: …` ends with.
"""

from __future__ import annotations

from appliance.language.catalogue import BoxSentence

# In order: the first that is found counts. The keys are of the catalogue of sentences.
REASONS: tuple[tuple[str, str], ...] = (
    ("secrets were", "wifi-password"),
    ("no valid secrets", "wifi-password"),
    ("network could not be found", "wifi-out-of-reach"),
    ("no network with ssid", "wifi-out-of-reach"),
    ("supplicant disconnected", "wifi-sent-away"),
    ("supplicant took too long", "wifi-too-long"),
    ("ip configuration could not be reserved", "wifi-no-address"),
    ("dhcp", "wifi-no-address"),
    ("timeout expired", "wifi-timeout"),
)


def sentence(wifi: str, said: str) -> BoxSentence:
    """`wifi`: its name as its owner knows it; `said`: what nmcli did."""
    words = said.lower()
    found = next((key for part, key in REASONS if part in words), "wifi-otherwise")
    return BoxSentence.of(found, wifi=wifi)
