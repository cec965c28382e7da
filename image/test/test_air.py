"""A wrong Wi-Fi password in the seed, with the real NetworkManager and wpa_supplicant: the box says
so, opens its set-up Wi-Fi, and a phone corrects the password.

The radios are simulated by the kernel in a virtual machine (air.py). Not covered: the Pi's own
radio and its firmware, and what a real phone shows.
"""

from __future__ import annotations

from typing import Any

import pytest

from image.test import air, debian_guest

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    """What the owner's program observed (owner.py)."""
    return debian_guest.facts_of(air.GUEST, "air")


def test_a_wrong_password_in_the_seed_is_said_and_set_up_opens(facts: dict[str, Any]) -> None:
    why = "The Wi-Fi Home does not accept the password that I have."
    assert facts["said"][0].startswith(f"{why} To set me up with a phone")
    assert facts["open"]["problem"] == why
    assert facts["open"]["setup"].startswith("Interlude ")
    assert facts["check"] == [why]


def test_a_phone_joins_with_what_was_said_and_is_offered_the_page(facts: dict[str, Any]) -> None:
    offer = facts["phone"]["offer"]
    assert offer["address"].startswith("10.42.0.")
    assert offer["114"] == "http://10.42.0.1/"
    assert offer["6"] == "0a2a0001"  # the box answers for names


def test_what_the_phone_asks_of_the_world_leads_to_the_page(facts: dict[str, Any]) -> None:
    assert facts["phone"]["world"] == "10.42.0.1"
    assert facts["phone"]["probe"] == [302, "http://10.42.0.1/"]


def test_what_is_typed_there_brings_the_box_into_its_network(facts: dict[str, Any]) -> None:
    assert facts["phone"]["sent"] == 200
    assert facts["joined"] == "Home"
    assert "My name there is interlude dot local." in facts["set_up"]
    (after,) = facts["after"]
    assert "by the Wi-Fi Home, as interlude.local or 192.168.77." in after
    assert "Nobody" not in after


def test_a_wifi_that_is_not_there_is_told_from_one_that_refuses(facts: dict[str, Any]) -> None:
    assert facts["away"] == "The Wi-Fi Nowhere is out of range."
