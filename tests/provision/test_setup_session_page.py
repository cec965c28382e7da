"""An open set-up: its announcements, submitted forms and its end."""

from __future__ import annotations

import os
from functools import partial

import pytest

from appliance.provision.seed import Seed
from appliance.provision.setup_access import read_access
from appliance.provision.setup_invitations import IDENTIFY_S, REPEAT_S, REPEATS
from appliance.provision.setup_session import (
    ASKED_S,
    CLOSED_S,
    KNOWN_S,
    LOOK_S,
    MOST_USED_S,
    NETWORK_S,
    USED_S,
    SetupSession,
)
from appliance.provision.submitted_form import FILE, USED, ask_identify, mark_used, submit
from tests.provision.setup_scene import CABLE, HOME, WIFI, WRONG, PaperRadio, Scene


def test_a_user_of_the_page_is_not_cut_off_by_another_attempt_to_join(scene: Scene) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG, ""])
    late_s = KNOWN_S + CLOSED_S - 10
    scene.at = [
        (late_s, lambda: mark_used(scene.page)),
        (late_s + USED_S - 10, lambda: scene.radio.story.append("types")),
        (late_s + USED_S - 9, lambda: submit(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert scene.radio.story == [
        "join",
        "open Interlude 4711",
        "types",
        "close",
        "enter ours",
        "close",
    ]
    assert scene.left == []


def test_a_page_that_is_left_open_is_closed_after_a_while(scene: Scene) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG, ""])
    scene.at = [(KNOWN_S + 60, lambda: mark_used(scene.page))]
    assert scene.run() == "in a network"
    assert KNOWN_S + 60 + USED_S <= scene.time_s < KNOWN_S + 60 + USED_S + 5 * LOOK_S


def test_endless_use_of_the_page_does_not_prevent_joining_the_wifi(scene: Scene) -> None:
    def use(at_s: int) -> None:
        mark_used(scene.page)
        os.utime(scene.page / USED, ns=(at_s, at_s))  # a distinct time, however fast this runs

    scene.radio = PaperRadio(has_profile=True, answers=[WRONG, ""])
    scene.at = [(float(at_s), partial(use, at_s)) for at_s in range(60, 15_000, 60)]
    assert scene.run() == "in a network"
    began_s = KNOWN_S
    assert began_s + MOST_USED_S <= scene.time_s < began_s + MOST_USED_S + 5 * LOOK_S


def test_on_a_cable_a_form_without_a_wifi_is_accepted(scene: Scene) -> None:
    scene.radio.network, scene.untouched = CABLE, True
    typed = Seed(broker="homeassistant.local")
    scene.at = [(30.0, lambda: submit(scene.page, typed))]
    assert scene.run() == "set up"
    assert scene.applied == [typed]
    assert "join" not in scene.radio.story
    assert "set up. My name there is interlude dot local." in scene.said[-1]


def test_without_a_cable_a_wifi_is_required_and_an_empty_form_is_refused(scene: Scene) -> None:
    problems: list[str] = []

    def note() -> None:
        problems.append((scene.folder / "problem").read_text())

    scene.at = [
        (NETWORK_S + 5, lambda: submit(scene.page, Seed(broker="homeassistant.local"))),
        (NETWORK_S + 9, note),
        (NETWORK_S + 12, lambda: submit(scene.page, Seed())),
        (NETWORK_S + 16, note),
        (NETWORK_S + 20, lambda: submit(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert "name is missing" in problems[0]
    assert "Nothing was typed" in problems[1]
    assert scene.applied == [HOME]


def test_a_requested_set_up_that_is_not_used_ends(scene: Scene) -> None:
    scene.radio = PaperRadio(network=WIFI, has_profile=True)
    scene.at = [(1.0, lambda: setattr(scene.radio, "network", None))]  # there is one radio
    assert scene.run(asked=True) == "nobody came"
    assert scene.radio.story == ["open Interlude 4711", "close", "join", "close"]
    assert ASKED_S <= scene.time_s < ASKED_S + 5 * LOOK_S


def test_a_submitted_form_is_applied_and_its_wifi_joined(scene: Scene) -> None:
    scene.at = [(NETWORK_S + 30, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.applied == [HOME]
    assert scene.radio.story == ["open Interlude 4711", "close", "enter ours", "close"]
    assert scene.open_when_joining == [""]
    assert "4 7 1 1" in scene.said[0]
    assert "five words, typed as one, in small letters, without spaces" in scene.said[0]
    assert "Amber. Canoe. Maple. Tulip. Zebra." in scene.said[0]
    assert "10 dot 42 dot 0 dot 1" in scene.said[0]
    assert "set up" in scene.said[-1]
    assert scene.left == []


def test_the_page_gets_its_address_and_the_networks_in_reach(scene: Scene) -> None:
    seen = []
    scene.at = [
        (NETWORK_S + 5, lambda: seen.append(read_access(scene.folder))),
        (NETWORK_S + 9, lambda: submit(scene.page, HOME)),
    ]
    scene.run()
    assert seen[0] is not None
    assert (seen[0].address, seen[0].asked) == ("10.42.0.1", False)
    assert [wifi.name for wifi in seen[0].networks] == ["Home", "Neighbour"]


def test_identify_requests_of_strangers_are_answered_at_most_once_a_minute(scene: Scene) -> None:
    scene.at = [
        *((NETWORK_S + second, lambda: ask_identify(scene.page)) for second in range(5, 185)),
        (NETWORK_S + 190, lambda: submit(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert sum("Here I am" in sentence for sentence in scene.said) == 3
    assert IDENTIFY_S == 60.0
    assert scene.left == []


def test_bluetooth_learns_whether_the_box_had_a_wifi_before_the_set_up(
    scene: Scene,
) -> None:
    def look() -> None:
        access = read_access(scene.folder)
        seen.append(access is not None and access.settled)

    seen: list[bool] = []
    scene.radio.answers = [WRONG, ""]
    scene.at = [
        (NETWORK_S + 5, look),
        (NETWORK_S + 8, lambda: submit(scene.page, HOME)),
        (NETWORK_S + 9, lambda: setattr(scene, "settled", True)),
        (NETWORK_S + 20, look),
        (NETWORK_S + 30, lambda: submit(scene.page, HOME)),
    ]
    scene.run()
    other = Scene(scene.folder, scene.page, PaperRadio(has_profile=True, answers=[WRONG, ""]))
    other.settled = True
    other.at = [(KNOWN_S + 5, look), (KNOWN_S + 8, lambda: submit(other.page, HOME))]
    other.run()
    assert seen == [False, False, True]


def test_after_a_wrong_password_the_page_opens_again_with_the_reason(scene: Scene) -> None:
    problems = []
    scene.radio.answers = [WRONG, ""]
    scene.at = [
        (NETWORK_S + 5, lambda: submit(scene.page, HOME)),
        (NETWORK_S + 20, lambda: problems.append((scene.folder / "problem").read_text())),
        (NETWORK_S + 30, lambda: submit(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert problems[0] == WRONG
    assert scene.radio.story.count("open Interlude 4711") == 2
    assert len(scene.applied) == 2


def test_a_form_that_cannot_be_applied_is_announced_and_the_page_stays_open(scene: Scene) -> None:
    scene.refuses = "There is no time zone `x`."
    scene.at = [
        (NETWORK_S + 5, lambda: submit(scene.page, HOME)),
        (NETWORK_S + 30, lambda: submit(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert "There is no time zone `x`." in scene.said


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"wifi: [", "an invalid form"),
        (b'{"wifi": "Home", "password": "correct horse", "hostname": "a b"}', "not a host name"),
        (b'{"wifi": "", "password": "", "hostname": "kitchen"}', "name is missing"),
        (b'{"wifi": "Home", "password": "correct horse", "broker": "a;b"}', "not a broker"),
    ],
)
def test_a_form_that_root_refuses_is_explained_on_the_page_which_stays_open(
    scene: Scene, data: bytes, why: str
) -> None:
    problems: list[str] = []
    scene.at = [
        (NETWORK_S + 5, lambda: (scene.page / FILE).write_bytes(data)),
        (NETWORK_S + 9, lambda: problems.append((scene.folder / "problem").read_text())),
        (NETWORK_S + 12, lambda: submit(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert why in problems[0]
    assert scene.applied == [HOME]


@pytest.mark.long
def test_the_invitation_is_repeated_a_limited_number_of_times(scene: Scene) -> None:
    scene.at = [(10_000.0, lambda: submit(scene.page, HOME))]
    scene.run()
    assert sum("with a phone" in sentence for sentence in scene.said) == REPEATS
    assert REPEATS * REPEAT_S < 10_000.0


def test_a_requested_set_up_repeats_its_invitation_after_the_first_start_too(scene: Scene) -> None:
    scene.radio = PaperRadio(network=WIFI, has_profile=True)
    assert scene.run(asked=True, first=False) == "nobody came"
    invitations = [sentence for sentence in scene.said if "Amber. Canoe." in sentence]
    assert len(invitations) >= ASKED_S / REPEAT_S


@pytest.mark.long
def test_a_network_lost_later_is_announced_once(scene: Scene) -> None:
    scene.at = [(5_000.0, lambda: setattr(scene.radio, "network", CABLE))]
    scene.run(first=False)
    assert sum("with a phone" in sentence for sentence in scene.said) == 1


def test_a_box_that_is_still_starting_does_not_delay_the_set_up_and_speaks_later(
    scene: Scene,
) -> None:
    scene.box_up_s = NETWORK_S + 100
    scene.at = [(NETWORK_S + 20, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.time_s < NETWORK_S + 30
    late = Scene(scene.folder, scene.page, box_up_s=NETWORK_S + 100)
    late.at = [(NETWORK_S + 110, lambda: submit(late.page, HOME))]
    late.run()
    assert sum("with a phone" in sentence for sentence in late.said) == 1


def test_each_set_up_has_a_new_password(scene: Scene) -> None:
    made = [SetupSession(PaperRadio(), bool, scene) for _ in range(4)]
    assert len({session.password for session in made}) == 4
