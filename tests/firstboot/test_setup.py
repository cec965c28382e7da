"""A box in no network: it says so, opens a Wi-Fi and a page, and joins what is typed there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from appliance.errors import SeedRefused, StorageError
from appliance.firstboot.seed import Seed, Wifi
from appliance.firstboot.serve import opened
from appliance.firstboot.setup import NETWORK_S, REPEAT_S, REPEATS, SetUp
from appliance.firstboot.typed import FILE, put, take

PASSWORD = ("amber", "canoe", "maple", "tulip", "zebra")
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
        assert password == "".join(PASSWORD)
        self.story.append(f"open {name}")

    def close(self) -> None:
        self.story.append("close")

    def join(self) -> bool:
        self.story.append("join")
        return self.lets_in.pop(0)


@dataclass
class Scene:
    """`at`: what happens when so many seconds have passed. `folder`: root's; `page`: the page's."""

    folder: Path
    page: Path
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
            self.radio, self.says, self.apply, self.folder, self.page,
            now_s=lambda: self.time_s, sleep=self.sleep, name="Interlude 4711", password=PASSWORD,
        )  # fmt: skip
        return made.run(asked=asked)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    for name in ("root", "page"):
        (tmp_path / name).mkdir()
    return Scene(tmp_path / "root", tmp_path / "page")


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
    scene.at = [(NETWORK_S + 30, lambda: put(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.applied == [HOME]
    assert scene.radio.story == ["open Interlude 4711", "close", "join", "close"]
    assert "4 7 1 1" in scene.said[0]
    assert "five words, typed as one, in small letters, without spaces" in scene.said[0]
    assert "Amber. Canoe. Maple. Tulip. Zebra." in scene.said[0]
    assert "10 dot 42 dot 0 dot 1" in scene.said[0]
    assert "set up" in scene.said[-1]
    assert [*scene.folder.iterdir(), *scene.page.iterdir()] == []


def test_the_page_knows_its_address_and_the_names_in_reach(scene: Scene) -> None:
    seen = []
    scene.at = [
        (NETWORK_S + 5, lambda: seen.append(opened(scene.folder))),
        (NETWORK_S + 9, lambda: put(scene.page, HOME)),
    ]
    scene.run()
    assert seen[0] is not None
    assert (seen[0].address, seen[0].names) == ("10.42.0.1", ("Home", "Neighbour"))


def test_a_wrong_password_opens_the_page_again_and_says_why(scene: Scene) -> None:
    problems = []
    scene.radio.lets_in = [False, True]
    scene.at = [
        (NETWORK_S + 5, lambda: put(scene.page, HOME)),
        (NETWORK_S + 20, lambda: problems.append((scene.folder / "problem").read_text())),
        (NETWORK_S + 30, lambda: put(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert "did not let me in" in problems[0]
    assert scene.radio.story.count("open Interlude 4711") == 2
    assert len(scene.applied) == 2


def test_what_cannot_be_applied_is_said_and_the_page_stays(scene: Scene) -> None:
    scene.refuses = "There is no time zone `x`."
    scene.at = [
        (NETWORK_S + 5, lambda: put(scene.page, HOME)),
        (NETWORK_S + 30, lambda: put(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert "There is no time zone `x`." in scene.said


def wifi(**more: object) -> bytes:
    return msgspec.json.encode({"wifi": "Home", "password": "correct horse", **more})


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"wifi: [", "does not ask for"),
        (b"\xff\xfe", "does not ask for"),
        (b'{"wifi": "\\ud800", "password": "correct horse"}', "does not ask for"),
        (b" " * 100_000, "more than anybody types"),
        (wifi(ssh_keys=["ssh-ed25519 AAAA intruder"]), "does not ask for"),
        (wifi(timezone="Europe/Berlin"), "does not ask for"),
        (wifi(mqtt={"port": 1}), "does not ask for"),
        (wifi(model="gemma-4-e4b"), "does not ask for"),
        (wifi(mode="loud"), "does not ask for"),
        (wifi(hostname="a" * 300), "does not ask for"),
        (wifi(hostname="a b"), "no host name"),
        (wifi(broker="a;b"), "no broker"),
    ],
)
def test_root_takes_the_pages_own_fields_and_nothing_else(
    scene: Scene, data: bytes, why: str
) -> None:
    problems: list[str] = []
    scene.at = [
        (NETWORK_S + 5, lambda: (scene.page / FILE).write_bytes(data)),
        (NETWORK_S + 9, lambda: problems.append((scene.folder / "problem").read_text())),
        (NETWORK_S + 12, lambda: put(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert why in problems[0]
    assert scene.applied == [HOME]


def fifo(at: Path, elsewhere: Path) -> None:
    os.mkfifo(at)


def link(at: Path, elsewhere: Path) -> None:
    elsewhere.write_bytes(wifi())
    at.symlink_to(elsewhere)


def sparse(at: Path, elsewhere: Path) -> None:
    with at.open("wb") as file:
        file.truncate(1 << 40)


def folder(at: Path, elsewhere: Path) -> None:
    (at / "full").mkdir(parents=True)


@pytest.mark.parametrize("lay", [fifo, link, sparse, folder])
@pytest.mark.timeout(20)
def test_what_is_no_file_of_the_pages_is_not_waited_for_nor_read(
    tmp_path: Path, lay: Callable[[Path, Path], None]
) -> None:
    lay(tmp_path / FILE, tmp_path / "elsewhere")
    with pytest.raises(SeedRefused):
        take(tmp_path, os.geteuid())
    if lay is not folder:  # of which root empties none
        assert take(tmp_path, os.geteuid()) is None


def test_a_file_of_another_user_is_not_the_pages(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(wifi())
    with pytest.raises(SeedRefused, match="of its own"):
        take(tmp_path, os.geteuid() + 1)
    (tmp_path / FILE).write_bytes(wifi())
    taken = take(tmp_path, os.geteuid())
    assert taken is not None
    assert taken.wifi == Wifi(b"Home", "correct horse")


def test_a_cable_ends_the_set_up_unless_it_was_asked_for(scene: Scene) -> None:
    scene.at = [(NETWORK_S + 60, lambda: setattr(scene.radio, "in_network", True))]
    assert scene.run() == "in a network"
    assert scene.radio.story == ["open Interlude 4711", "close"]
    asked = Scene(scene.folder, scene.page, PaperRadio(in_network=True))
    asked.at = [(100.0, lambda: put(asked.page, HOME))]
    assert asked.run(asked=True) == "set up"
    assert "ready to be set up" in asked.said[0]


def test_it_says_how_to_join_again_and_again_and_then_is_silent(scene: Scene) -> None:
    scene.at = [(10_000.0, lambda: put(scene.page, HOME))]
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
    scene.at = [(NETWORK_S + 20, lambda: put(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.time_s < NETWORK_S + 30
    late = Scene(scene.folder, scene.page, box_up_s=NETWORK_S + 100)
    late.at = [(NETWORK_S + 110, lambda: put(late.page, HOME))]
    late.run()
    assert sum("With a phone" in sentence for sentence in late.said) == 1


def test_a_cable_is_asked_for_as_soon_as_the_box_can(scene: Scene) -> None:
    scene.radio.wifi = ""
    scene.box_up_s = NETWORK_S + 60
    scene.run()
    assert len(scene.said) == 1
    away = Scene(scene.folder, scene.page, PaperRadio(wifi=""), box_up_s=1e9)
    assert away.run() == "no Wi-Fi in this machine"


def test_each_set_up_has_a_password_of_its_own() -> None:
    made = [SetUp(PaperRadio(), bool, print) for _ in range(4)]
    assert len({one.password for one in made}) == 4
