"""Why a Wi-Fi refused the box: NetworkManager's error text as a sentence for the owner."""

from __future__ import annotations

import pytest

from appliance.language.catalogue import catalogue, english, languages
from appliance.provision.wifi_errors import REASONS
from appliance.provision.wifi_errors import sentence as reason


def sentence(wifi: str, error: str) -> str:
    return reason(wifi, error).text(english())


FAILED = "Error: Connection activation failed: "


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("Secrets were required, but not provided", "does not accept the password"),
        ("The Wi-Fi network could not be found", "is out of range"),
        ("802.1X supplicant disconnected", "rejects me"),
        ("802.1X supplicant took too long to authenticate", "does not answer in time"),
        (
            "IP configuration could not be reserved (no available address, timeout, etc.)",
            "gives me no address",
        ),
        ("The device could not be readied for configuration", "cannot join"),
        ("", "cannot join"),
    ],
)
def test_each_error_of_network_manager_has_a_sentence(error: str, expected: str) -> None:
    assert expected in sentence("Home", FAILED + error)


def test_the_first_matching_reason_counts() -> None:
    assert "password" in sentence("Home", "Timeout expired. Secrets were required.")


def test_a_name_with_braces_is_repeated_unchanged() -> None:
    assert "{0} {x}" in sentence("{0} {x}", "DHCP failed")


def test_each_reason_names_the_network_and_repeats_nothing_of_the_error() -> None:
    for part, _ in REASONS:
        text = sentence("Home", f"x {part.upper()} y hunter2")
        assert "Home" in text
        assert "hunter2" not in text


@pytest.mark.parametrize("language", languages())
def test_each_reason_exists_in_every_language(language: str) -> None:
    sentences = [reason("Heim", part).text(catalogue(language)) for part, _ in REASONS]
    assert all("Heim" in sentence for sentence in sentences)
