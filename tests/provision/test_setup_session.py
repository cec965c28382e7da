"""A box without a network announces it, opens an access point with a page, and joins the entered
Wi-Fi."""

from __future__ import annotations

import pytest

from appliance.errors import StorageError
from appliance.provision.network_manager import JoinedNetwork, WifiInReach
from appliance.provision.setup_session import (
    ASKED_S,
    CLOSED_S,
    KNOWN_S,
    LOOK_S,
    NETWORK_S,
)
from appliance.provision.submitted_form import submit
from appliance.runtime import network_status as network
from tests.provision.setup_scene import CABLE, HOME, WIFI, WRONG, PaperRadio, Scene


def test_a_box_with_a_network_starts_no_set_up(scene: Scene) -> None:
    scene.radio.network = CABLE
    assert scene.run() == "in a network"
    assert (scene.said, scene.radio.story) == ([], [])
    assert network.read_status(scene.folder) == network.NetworkStatus(name="interlude.local")


def test_the_start_waits_for_a_slow_cable_connection(scene: Scene) -> None:
    scene.at = [(NETWORK_S - 5, lambda: setattr(scene.radio, "network", CABLE))]
    assert scene.run() == "in a network"
    assert scene.said == []


def test_a_refused_wifi_is_announced_within_75_s_and_the_set_up_opens(
    scene: Scene,
) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG, ""])
    scene.at = [(KNOWN_S + 10, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.radio.story == ["join", "open Interlude 4711", "close", "enter ours", "close"]
    assert scene.said[0].startswith(f"{WRONG} To set me up with a phone")
    assert scene.logged == [WRONG]
    assert network.NetworkStatus(problem=WRONG, setup="Interlude 4711", wifi=WRONG) in scene.shown
    assert KNOWN_S + 45 <= 75
    assert network.read_status(scene.folder) == network.NetworkStatus(name="interlude.local")


def test_a_wifi_that_returns_is_joined_again_automatically(scene: Scene) -> None:
    away = "The Wi-Fi Home is out of range."
    scene.radio = PaperRadio(has_profile=True, answers=[away, away, ""])
    assert scene.run() == "in a network"
    tries = ["open Interlude 4711", "close", "join"]
    assert scene.radio.story == ["join", *tries, *tries, "close"]
    assert KNOWN_S + 2 * CLOSED_S <= scene.time_s < KNOWN_S + 2 * CLOSED_S + 5 * LOOK_S
    assert "on your Wi-Fi now" in scene.said[-1]
    assert scene.logged == [away]


def test_a_new_box_on_a_cable_announces_its_name_and_the_set_up(scene: Scene) -> None:
    scene.radio.network, scene.untouched = CABLE, True
    assert scene.run() == "nobody came"
    assert "on your network by cable. My name there is interlude dot local" in scene.said[0]
    assert "Interlude 4 7 1 1" in scene.said[0]
    assert scene.radio.story == ["open Interlude 4711", "close", "close"]
    assert ASKED_S <= scene.time_s < ASKED_S + 5 * LOOK_S
    assert network.NetworkStatus(setup="Interlude 4711") in scene.shown
    assert scene.logged == []


def test_a_new_box_on_a_cable_without_a_radio_announces_its_name_and_the_seed_file(
    scene: Scene,
) -> None:
    scene.radio = PaperRadio(network=CABLE, wifi="")
    scene.untouched = True
    assert scene.run() == "in a network"
    (sentence,) = scene.said
    assert "My name there is interlude dot local" in sentence
    assert "interlude dot yaml" in sentence
    assert scene.radio.story == []


def test_a_name_conflict_is_announced_at_the_first_start_only(scene: Scene) -> None:
    scene.radio.network = WIFI
    scene.own_name = "interlude-2.local"
    assert scene.run() == "in a network"
    (sentence,) = scene.said
    assert "is called interlude, too. My name there is interlude dash 2 dot local." in sentence
    again = Scene(scene.folder, scene.page, PaperRadio(network=WIFI), own_name="interlude-2.local")
    assert again.run(first=False) == "in a network"
    assert again.said == []


def test_a_box_without_a_radio_asks_for_a_cable(scene: Scene) -> None:
    scene.radio.wifi = ""
    scene.run()
    assert scene.said == ["I have no network. Plug in a network cable."]


def test_a_cable_ends_an_automatic_set_up_but_not_a_requested_one(scene: Scene) -> None:
    scene.at = [(NETWORK_S + 60, lambda: setattr(scene.radio, "network", CABLE))]
    assert scene.run() == "in a network"
    assert scene.radio.story == ["open Interlude 4711", "close"]
    asked = Scene(scene.folder, scene.page, PaperRadio(network=CABLE))
    asked.at = [(100.0, lambda: submit(asked.page, HOME))]
    assert asked.run(asked=True) == "set up"
    assert "ready to be set up" in asked.said[0]


def test_the_problem_of_the_wifi_stays_readable_after_a_cable_connection(scene: Scene) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG])
    scene.at = [(KNOWN_S + 60, lambda: setattr(scene.radio, "network", CABLE))]
    assert scene.run() == "in a network"
    here = network.NetworkStatus(name="interlude.local", wifi=WRONG)
    assert network.read_status(scene.folder) == here
    again = Scene(scene.folder, scene.page, PaperRadio(network=CABLE, has_profile=True))
    assert again.run(first=False) == "in a network"
    assert network.read_status(scene.folder) == here


def test_joining_the_wifi_clears_its_problem(scene: Scene) -> None:
    network.write_status(network.NetworkStatus(wifi=WRONG), scene.folder)
    scene.radio = PaperRadio(network=WIFI, has_profile=True)
    assert scene.run() == "in a network"
    assert network.read_status(scene.folder) == network.NetworkStatus(name="interlude.local")


def test_a_problem_of_the_card_is_published_during_and_after_the_set_up(scene: Scene) -> None:
    scene.card = "interlude.yaml: There is no mode `loud`."
    scene.at = [(NETWORK_S + 60, lambda: setattr(scene.radio, "network", CABLE))]
    scene.run()
    assert {status.card for status in scene.public if status.setup} == {scene.card}
    assert network.read_status(scene.folder).card == scene.card


def test_an_access_point_that_cannot_be_opened_is_announced(scene: Scene) -> None:
    class Broken(PaperRadio):
        def open(self, name: str, password: str) -> None:
            raise StorageError("NetworkManager: no such mode.")

    scene.radio = Broken()
    with pytest.raises(StorageError):
        scene.run()
    assert "no such mode" in scene.said[-1]
    assert scene.radio.story == ["close"]


def test_an_intermittent_network_manager_does_not_end_the_set_up(scene: Scene) -> None:
    class Away(PaperRadio):
        asked = 0

        def joined(self) -> JoinedNetwork | None:
            self.asked += 1
            if self.asked % 3:
                raise StorageError("NetworkManager: is not running.")
            return super().joined()

        def in_reach(self) -> list[WifiInReach]:
            raise StorageError("NetworkManager cannot be asked (time is up).")

    scene.radio = Away()
    scene.at = [(NETWORK_S + 30, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"


def test_an_access_point_that_cannot_be_opened_is_announced_at_the_first_start_only(
    scene: Scene,
) -> None:
    class Broken(PaperRadio):
        def open(self, name: str, password: str) -> None:
            raise StorageError("NetworkManager: no such mode.")

    scene.radio = Broken()
    with pytest.raises(StorageError):
        scene.run(first=False)
    assert scene.said == []


def test_opening_the_access_point_is_retried(scene: Scene) -> None:
    class Busy(PaperRadio):
        def open(self, name: str, password: str) -> None:
            if not self.story:
                self.story.append("busy")
                raise StorageError("NetworkManager: busy.")
            super().open(name, password)

    scene.radio = Busy()
    scene.at = [(NETWORK_S + 30, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.radio.story[:2] == ["busy", "open Interlude 4711"]


def test_the_request_for_a_cable_is_spoken_when_the_box_can_speak(scene: Scene) -> None:
    scene.radio.wifi = ""
    scene.box_up_s = NETWORK_S + 60
    scene.run()
    assert len(scene.said) == 1
    away = Scene(scene.folder, scene.page, PaperRadio(wifi=""), box_up_s=1e9)
    assert away.run() == "no Wi-Fi in this machine"
