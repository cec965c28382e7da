"""Why a Wi-Fi did not let the box in: NetworkManager's words, as a sentence for its owner."""

from __future__ import annotations

import pytest

from appliance.language.catalogue import catalogue, english, languages
from appliance.provision.wifi_errors import REASONS
from appliance.provision.wifi_errors import sentence as reason


def sentence(wifi: str, said: str) -> str:
    return reason(wifi, said).text(english())


FAILED = "Error: Connection activation failed: "


@pytest.mark.parametrize(
    ("said", "told"),
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
def test_what_network_manager_says_has_its_sentence(said: str, told: str) -> None:
    assert told in sentence("Home", FAILED + said)


def test_the_first_reason_that_is_found_counts() -> None:
    assert "password" in sentence("Home", "Timeout expired. Secrets were required.")


def test_a_name_with_braces_is_repeated_as_it_is() -> None:
    assert "{0} {x}" in sentence("{0} {x}", "DHCP failed")


def test_each_reason_names_the_network_and_repeats_nothing_else() -> None:
    for part, _ in REASONS:
        told = sentence("Home", f"x {part.upper()} y hunter2")
        assert "Home" in told
        assert "hunter2" not in told


@pytest.mark.parametrize("language", languages())
def test_each_reason_is_told_in_every_language(language: str) -> None:
    told = [reason("Heim", part).text(catalogue(language)) for part, _ in REASONS]
    assert all("Heim" in sentence for sentence in told)
