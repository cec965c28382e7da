"""A box in no network: it says so, opens a Wi-Fi and a page, and joins what is typed there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance.errors import SeedRefused, StorageError
from appliance.firstboot.seed import Seed, Wifi
from appliance.firstboot.serve import opened, put
from appliance.firstboot.setup import NETWORK_S, REPEAT_S, REPEATS, SetUp

HOME = Seed(wifi=Wifi(b"Home", "correct horse"), country="DE")


@dataclass
class PaperRadio:
    """A machine's networks. `lets_in`: what the next tries to join come to."""

    in_network: bool = False
    has_profile: bool = False
    wifi: str = "wlan0"
    lets_in: list[bool] = field(default_factory=lambda: [True])
    story: list[str] = field(default_factory=list)

    def connected(self) -> bool:
        return self.in_network

    def known(self) -> bool:
        return self.has_profile

    def device(self) -> str:
        return self.wifi

    def names(self) -> list[str]:
        return ["Home", "Neighbour"]

    def open(self, name: str, password: str) -> None:
        assert len(password) == 8
        self.story.append(f"open {name}")

    def close(self) -> None:
        self.story.append("close")

    def join(self) -> bool:
        self.story.append("join")
        return self.lets_in.pop(0)


@dataclass
class Scene:
    """`at`: what happens when so many seconds have passed."""

    folder: Path
    radio: PaperRadio = field(default_factory=PaperRadio)
    said: list[str] = field(default_factory=list)
    applied: list[Seed] = field(default_factory=list)
    at: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    refuses: str = ""
    time_s: float = 0.0
    box_up_s: float = 0.0  # from when on the box takes what it is to say

    def says(self, sentence: str) -> bool:
        if self.time_s < self.box_up_s:
            return False
        self.said.append(sentence)
        return True

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds
        assert self.time_s < 20_000, "it never ends"
        while self.at and self.at[0][0] <= self.time_s:
            self.at.pop(0)[1]()

    def apply(self, seed: Seed) -> None:
        if self.refuses:
            problem, self.refuses = self.refuses, ""
            raise SeedRefused(problem)
        self.applied.append(seed)

    def run(self, *, asked: bool = False) -> str:
        made = SetUp(
            self.radio, self.says, self.apply, self.folder,
            now_s=lambda: self.time_s, sleep=self.sleep, name="Interlude 4711", password="12345678",
        )  # fmt: skip
        return made.run(asked=asked)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_box_in_a_network_is_left_alone(scene: Scene) -> None:
    scene.radio.in_network = True
    assert scene.run() == "in a network"
    assert (scene.said, scene.radio.story) == ([], [])


def test_a_cable_that_comes_up_late_is_waited_for(scene: Scene) -> None:
    scene.at = [(NETWORK_S - 5, lambda: setattr(scene.radio, "in_network", True))]
    assert scene.run() == "in a network"
    assert scene.said == []


def test_a_wifi_that_is_known_and_out_of_reach_is_no_reason_for_set_up(scene: Scene) -> None:
    scene.radio.has_profile = True
    assert "out of reach" in scene.run()
    assert scene.radio.story == []


def test_without_wifi_a_cable_is_asked_for(scene: Scene) -> None:
    scene.radio.wifi = ""
    scene.run()
    assert scene.said == ["I have no network. Plug in a network cable."]


def test_what_is_typed_is_applied_and_joined(scene: Scene) -> None:
    scene.at = [(NETWORK_S + 30, lambda: put(scene.folder, HOME))]
    assert scene.run() == "set up"
    assert scene.applied == [HOME]
    assert scene.radio.story == ["open Interlude 4711", "close", "join", "close"]
    assert "4 7 1 1" in scene.said[0]
    assert "1 2, 3 4, 5 6, 7 8" in scene.said[0]
    assert "10 dot 42 dot 0 dot 1" in scene.said[0]
    assert "set up" in scene.said[-1]
    assert list(scene.folder.iterdir()) == []


def test_the_page_knows_its_address_and_the_names_in_reach(scene: Scene) -> None:
    seen = []
    scene.at = [
        (NETWORK_S + 5, lambda: seen.append(opened(scene.folder))),
        (NETWORK_S + 9, lambda: put(scene.folder, HOME)),
    ]
    scene.run()
    assert seen[0] is not None
    assert (seen[0].address, seen[0].names) == ("10.42.0.1", ("Home", "Neighbour"))


def test_a_wrong_password_opens_the_page_again_and_says_why(scene: Scene) -> None:
    problems = []
    scene.radio.lets_in = [False, True]
    scene.at = [
        (NETWORK_S + 5, lambda: put(scene.folder, HOME)),
        (NETWORK_S + 20, lambda: problems.append((scene.folder / "problem").read_text())),
        (NETWORK_S + 30, lambda: put(scene.folder, HOME)),
    ]
    assert scene.run() == "set up"
    assert "did not let me in" in problems[0]
    assert scene.radio.story.count("open Interlude 4711") == 2
    assert len(scene.applied) == 2


def test_what_cannot_be_applied_is_said_and_the_page_stays(scene: Scene) -> None:
    scene.refuses = "There is no time zone `x`."
    scene.at = [
        (NETWORK_S + 5, lambda: put(scene.folder, HOME)),
        (NETWORK_S + 30, lambda: put(scene.folder, HOME)),
    ]
    assert scene.run() == "set up"
    assert "There is no time zone `x`." in scene.said


@pytest.mark.parametrize("data", [b"wifi: [", b"\xff\xfe", b"x" * 100_000, b"rm: -rf /\n"])
def test_whatever_the_page_might_write_is_read_as_a_strangers(scene: Scene, data: bytes) -> None:
    problems = []
    scene.at = [
        (NETWORK_S + 5, lambda: (scene.folder / "typed.yaml").write_bytes(data)),
        (NETWORK_S + 9, lambda: problems.append((scene.folder / "problem").read_text())),
        (NETWORK_S + 12, lambda: put(scene.folder, HOME)),
    ]
    assert scene.run() == "set up"
    assert problems[0].startswith("interlude.yaml")
    assert scene.applied == [HOME]


def test_a_cable_ends_the_set_up_unless_it_was_asked_for(scene: Scene) -> None:
    scene.at = [(NETWORK_S + 60, lambda: setattr(scene.radio, "in_network", True))]
    assert scene.run() == "in a network"
    assert scene.radio.story == ["open Interlude 4711", "close"]
    asked = Scene(scene.folder, PaperRadio(in_network=True))
    asked.at = [(100.0, lambda: put(asked.folder, HOME))]
    assert asked.run(asked=True) == "set up"
    assert "ready to be set up" in asked.said[0]


def test_it_says_how_to_join_again_and_again_and_then_is_silent(scene: Scene) -> None:
    scene.at = [(10_000.0, lambda: put(scene.folder, HOME))]
    scene.run()
    assert sum("With a phone" in sentence for sentence in scene.said) == REPEATS
    assert REPEATS * REPEAT_S < 10_000.0


def test_a_wifi_that_cannot_be_opened_is_said(scene: Scene) -> None:
    class Broken(PaperRadio):
        def open(self, name: str, password: str) -> None:
            raise StorageError("NetworkManager: no such mode.")

    scene.radio = Broken()
    with pytest.raises(StorageError):
        scene.run()
    assert "no such mode" in scene.said[-1]
    assert scene.radio.story == ["close"]


def test_a_box_that_is_still_starting_holds_nothing_up_and_is_told_later(scene: Scene) -> None:
    scene.box_up_s = NETWORK_S + 100
    scene.at = [(NETWORK_S + 20, lambda: put(scene.folder, HOME))]
    assert scene.run() == "set up"
    assert scene.time_s < NETWORK_S + 30
    late = Scene(scene.folder, box_up_s=NETWORK_S + 100)
    late.at = [(NETWORK_S + 110, lambda: put(late.folder, HOME))]
    late.run()
    assert sum("With a phone" in sentence for sentence in late.said) == 1


def test_a_cable_is_asked_for_as_soon_as_the_box_can(scene: Scene) -> None:
    scene.radio.wifi = ""
    scene.box_up_s = NETWORK_S + 60
    scene.run()
    assert len(scene.said) == 1
    away = Scene(scene.folder, PaperRadio(wifi=""), box_up_s=1e9)
    assert away.run() == "no Wi-Fi in this machine"


def test_each_set_up_has_a_password_of_its_own() -> None:
    made = [SetUp(PaperRadio(), bool, print) for _ in range(4)]
    assert len({one.password for one in made}) == 4
    assert all(one.password.isdecimal() and len(one.password) == 8 for one in made)
