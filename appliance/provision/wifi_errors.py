"""Translates NetworkManager's errors of a Wi-Fi connection to sentences for the owner. Pure.

nmcli's message `Error: Connection activation failed: …` ends with a device reason, in these words
in NetworkManager 1.42 and 1.52.
"""

from __future__ import annotations

from appliance.language.catalogue import BoxSentence

# The first match counts. Part of nmcli's message → key of the catalogue.
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
    """The sentence for a failed connection. `wifi`: its SSID; `said`: nmcli's message."""
    message = said.lower()
    key = next((key for part, key in REASONS if part in message), "wifi-otherwise")
    return BoxSentence.of(key, wifi=wifi)
