"""A box in no network: it says so, opens a Wi-Fi and a page, and joins what is typed there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from appliance.errors import SeedRefused, StorageError
from appliance.provision.network_manager import JoinedNetwork
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.setup_server import read_access
from appliance.provision.setup_session import (
    ASKED_S,
    CLOSED_S,
    KNOWN_S,
    LOOK_S,
    NETWORK_S,
    REPEAT_S,
    REPEATS,
    USED_S,
    SetupSession,
)
from appliance.provision.submitted_form import FILE, mark_used, pop_form, submit
from appliance.runtime import network_status as network

PASSWORD = ("amber", "canoe", "maple", "tulip", "zebra")
WRONG = "The Wi-Fi Home does not take the password that I have."
CABLE, WIFI = (
    JoinedNetwork("ethernet", "eth0", "Wired connection 1"),
    JoinedNetwork("wifi", "wlan0", "Home"),
)
HOME = Seed(wifi=WifiNetwork(b"Home", "correct horse"), country="DE")


@dataclass
class PaperRadio:
    """A machine's networks. `answers`: why the next tries to join fail; "" where one does not."""

    network: JoinedNetwork | None = None
    has_profile: bool = False
    wifi: str = "wlan0"
    answers: list[str] = field(default_factory=lambda: [""])
    story: list[str] = field(default_factory=list)
    joins: Callable[[], None] = lambda: None

    def joined(self) -> JoinedNetwork | None:
        return self.network

    def known(self) -> list[str]:
        return ["interlude-wifi"] * self.has_profile

    def device(self) -> str:
        return self.wifi

    def names(self) -> list[str]:
        return ["Home", "Neighbour"]

    def open(self, name: str, password: str) -> None:
        assert password == "".join(PASSWORD)
        self.story.append(f"open {name}")

    def close(self) -> None:
        self.story.append("close")

    def join(self) -> str:
        self.story.append("join")
        self.joins()
        answer = self.answers.pop(0)
        self.network = self.network if answer else WIFI
        return answer


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
    public: list[network.NetworkStatus] = field(default_factory=list)
    time_s: float = 0.0
    box_up_s: float = 0.0  # from when on the box takes what it is to say
    own_name: str = "interlude.local"
    untouched: bool = False
    card: str = ""
    logged: list[str] = field(default_factory=list)
    open_when_joining: list[str] = field(default_factory=list)

    def says(self, sentence: str) -> bool:
        if self.time_s < self.box_up_s:
            return False
        self.said.append(sentence)
        return True

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds
        assert self.time_s < 20_000, "it never ends"
        self.public.append(network.read_status(self.folder))
        while self.at and self.at[0][0] <= self.time_s:
            self.at.pop(0)[1]()

    def apply(self, seed: Seed) -> None:
        if self.refuses:
            problem, self.refuses = self.refuses, ""
            raise SeedRefused(problem)
        self.applied.append(seed)

    def run(self, *, asked: bool = False, first: bool = True) -> str:
        self.radio.joins = lambda: self.open_when_joining.append(
            network.read_status(self.folder).setup
        )
        made = SetupSession(
            self.radio, self.says, self.apply, self.folder, self.page, self.folder,
            logs=self.logged.append, own_name=lambda: self.own_name, host=lambda: "interlude",
            untouched=lambda: self.untouched, first=first, card=self.card,
            now_s=lambda: self.time_s, sleep=self.sleep, name="Interlude 4711", password=PASSWORD,
        )  # fmt: skip
        return made.run(asked=asked)

    @property
    def shown(self) -> set[network.NetworkStatus]:
        """What anybody could read meanwhile."""
        return set(self.public)

    @property
    def left(self) -> list[str]:
        """What is left of it in the end, but for what is public."""
        return [
            path.name
            for path in (*self.folder.iterdir(), *self.page.iterdir())
            if path.name != network.FILE
        ]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    for name in ("root", "page"):
        (tmp_path / name).mkdir()
    return Scene(tmp_path / "root", tmp_path / "page")


def test_a_box_in_a_network_is_left_alone(scene: Scene) -> None:
    scene.radio.network = CABLE
    assert scene.run() == "in a network"
    assert (scene.said, scene.radio.story) == ([], [])
    assert network.read_status(scene.folder) == network.NetworkStatus(name="interlude.local")


def test_a_cable_that_comes_up_late_is_waited_for(scene: Scene) -> None:
    scene.at = [(NETWORK_S - 5, lambda: setattr(scene.radio, "network", CABLE))]
    assert scene.run() == "in a network"
    assert scene.said == []


def test_a_wifi_that_does_not_let_the_box_in_is_said_within_a_minute_and_set_up_opens(
    scene: Scene,
) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG, ""])
    scene.at = [(KNOWN_S + 10, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.radio.story == ["join", "open Interlude 4711", "close", "join", "close"]
    assert scene.said[0].startswith(f"{WRONG} To set me up with a phone")
    assert scene.logged == [WRONG]
    assert network.NetworkStatus(problem=WRONG, setup="Interlude 4711", wifi=WRONG) in scene.shown
    assert KNOWN_S + 45 <= 75
    assert network.read_status(scene.folder) == network.NetworkStatus(name="interlude.local")


def test_a_wifi_that_comes_back_is_joined_again_without_its_owner(scene: Scene) -> None:
    away = "The Wi-Fi Home is not in reach."
    scene.radio = PaperRadio(has_profile=True, answers=[away, away, ""])
    assert scene.run() == "in a network"
    tries = ["open Interlude 4711", "close", "join"]
    assert scene.radio.story == ["join", *tries, *tries, "close"]
    assert KNOWN_S + 2 * CLOSED_S <= scene.time_s < KNOWN_S + 2 * CLOSED_S + 5 * LOOK_S
    assert "in your Wi-Fi now" in scene.said[-1]
    assert scene.logged == [away]


def test_nobody_who_has_the_page_is_cut_off_by_another_try_at_the_wifi(scene: Scene) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG, ""])
    late_s = KNOWN_S + CLOSED_S - 10
    scene.at = [
        (late_s, lambda: mark_used(scene.page)),
        (late_s + USED_S - 10, lambda: scene.radio.story.append("types")),
        (late_s + USED_S - 9, lambda: submit(scene.page, HOME)),
    ]
    assert scene.run() == "set up"
    assert scene.radio.story == ["join", "open Interlude 4711", "types", "close", "join", "close"]
    assert scene.left == []


def test_a_page_that_somebody_left_open_is_closed_in_the_end(scene: Scene) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG, ""])
    scene.at = [(KNOWN_S + 60, lambda: mark_used(scene.page))]
    assert scene.run() == "in a network"
    assert KNOWN_S + 60 + USED_S <= scene.time_s < KNOWN_S + 60 + USED_S + 5 * LOOK_S


def test_a_box_with_a_cable_that_nobody_has_set_up_says_its_name_and_how(scene: Scene) -> None:
    scene.radio.network, scene.untouched = CABLE, True
    assert scene.run() == "nobody came"
    assert "in your network by cable. My name there is interlude dot local" in scene.said[0]
    assert "Interlude 4 7 1 1" in scene.said[0]
    assert scene.radio.story == ["open Interlude 4711", "close", "close"]
    assert ASKED_S <= scene.time_s < ASKED_S + 5 * LOOK_S
    assert network.NetworkStatus(setup="Interlude 4711") in scene.shown
    assert scene.logged == []


def test_a_box_with_a_cable_takes_what_is_typed_without_a_wifi(scene: Scene) -> None:
    scene.radio.network, scene.untouched = CABLE, True
    typed = Seed(broker="homeassistant.local")
    scene.at = [(30.0, lambda: submit(scene.page, typed))]
    assert scene.run() == "set up"
    assert scene.applied == [typed]
    assert "join" not in scene.radio.story
    assert "set up. My name there is interlude dot local." in scene.said[-1]


def test_without_a_cable_a_wifi_is_asked_for_and_nothing_typed_is_nothing(scene: Scene) -> None:
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


def test_without_a_radio_a_box_with_a_cable_says_its_name_and_what_to_do(scene: Scene) -> None:
    scene.radio = PaperRadio(network=CABLE, wifi="")
    scene.untouched = True
    assert scene.run() == "in a network"
    (said,) = scene.said
    assert "My name there is interlude dot local" in said
    assert "interlude dot yaml" in said
    assert scene.radio.story == []


def test_a_box_whose_name_another_has_says_its_own(scene: Scene) -> None:
    scene.radio.network = WIFI
    scene.own_name = "interlude-2.local"
    assert scene.run() == "in a network"
    (said,) = scene.said
    assert "is called interlude, too. My name there is interlude dash 2 dot local." in said
    again = Scene(scene.folder, scene.page, PaperRadio(network=WIFI), own_name="interlude-2.local")
    assert again.run(first=False) == "in a network"
    assert again.said == []


def test_a_set_up_that_was_asked_for_and_that_nobody_used_ends(scene: Scene) -> None:
    scene.radio = PaperRadio(network=WIFI, has_profile=True)
    scene.at = [(1.0, lambda: setattr(scene.radio, "network", None))]  # one radio
    assert scene.run(asked=True) == "nobody came"
    assert scene.radio.story == ["open Interlude 4711", "close", "join", "close"]
    assert ASKED_S <= scene.time_s < ASKED_S + 5 * LOOK_S


def test_without_wifi_a_cable_is_asked_for(scene: Scene) -> None:
    scene.radio.wifi = ""
    scene.run()
    assert scene.said == ["I have no network. Plug in a network cable."]


def test_what_is_typed_is_applied_and_joined(scene: Scene) -> None:
    scene.at = [(NETWORK_S + 30, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.applied == [HOME]
    assert scene.radio.story == ["open Interlude 4711", "close", "join", "close"]
    assert scene.open_when_joining == [""]
    assert "4 7 1 1" in scene.said[0]
    assert "five words, typed as one, in small letters, without spaces" in scene.said[0]
    assert "Amber. Canoe. Maple. Tulip. Zebra." in scene.said[0]
    assert "10 dot 42 dot 0 dot 1" in scene.said[0]
    assert "set up" in scene.said[-1]
    assert scene.left == []


def test_the_page_knows_its_address_and_the_names_in_reach(scene: Scene) -> None:
    seen = []
    scene.at = [
        (NETWORK_S + 5, lambda: seen.append(read_access(scene.folder))),
        (NETWORK_S + 9, lambda: submit(scene.page, HOME)),
    ]
    scene.run()
    assert seen[0] is not None
    assert (seen[0].address, seen[0].names) == ("10.42.0.1", ("Home", "Neighbour"))


def test_a_wrong_password_opens_the_page_again_and_says_why(scene: Scene) -> None:
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


def test_what_cannot_be_applied_is_said_and_the_page_stays(scene: Scene) -> None:
    scene.refuses = "There is no time zone `x`."
    scene.at = [
        (NETWORK_S + 5, lambda: submit(scene.page, HOME)),
        (NETWORK_S + 30, lambda: submit(scene.page, HOME)),
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
        (wifi(wifi="", hostname="kitchen"), "name is missing"),
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
        (NETWORK_S + 12, lambda: submit(scene.page, HOME)),
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
        pop_form(tmp_path, os.geteuid())
    if lay is not folder:  # of which root empties none
        assert pop_form(tmp_path, os.geteuid()) is None


def test_a_file_of_another_user_is_not_the_pages(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(wifi())
    with pytest.raises(SeedRefused, match="of its own"):
        pop_form(tmp_path, os.geteuid() + 1)
    (tmp_path / FILE).write_bytes(wifi())
    taken = pop_form(tmp_path, os.geteuid())
    assert taken is not None
    assert taken.wifi == WifiNetwork(b"Home", "correct horse")


def test_a_cable_ends_the_set_up_unless_it_was_asked_for(scene: Scene) -> None:
    scene.at = [(NETWORK_S + 60, lambda: setattr(scene.radio, "network", CABLE))]
    assert scene.run() == "in a network"
    assert scene.radio.story == ["open Interlude 4711", "close"]
    asked = Scene(scene.folder, scene.page, PaperRadio(network=CABLE))
    asked.at = [(100.0, lambda: submit(asked.page, HOME))]
    assert asked.run(asked=True) == "set up"
    assert "ready to be set up" in asked.said[0]


def test_it_says_how_to_join_again_and_again_and_then_is_silent(scene: Scene) -> None:
    scene.at = [(10_000.0, lambda: submit(scene.page, HOME))]
    scene.run()
    assert sum("with a phone" in sentence for sentence in scene.said) == REPEATS
    assert REPEATS * REPEAT_S < 10_000.0


def test_so_it_does_when_the_panel_asked_for_it_whenever_that_was(scene: Scene) -> None:
    scene.radio = PaperRadio(network=WIFI, has_profile=True)
    assert scene.run(asked=True, first=False) == "nobody came"
    told = [sentence for sentence in scene.said if "Amber. Canoe." in sentence]
    assert len(told) >= ASKED_S / REPEAT_S


def test_of_a_network_that_is_lost_later_it_says_it_once(scene: Scene) -> None:
    scene.at = [(5_000.0, lambda: setattr(scene.radio, "network", CABLE))]
    scene.run(first=False)
    assert sum("with a phone" in sentence for sentence in scene.said) == 1


def test_why_the_wifi_lets_nobody_in_can_be_read_after_a_cable_came(scene: Scene) -> None:
    scene.radio = PaperRadio(has_profile=True, answers=[WRONG])
    scene.at = [(KNOWN_S + 60, lambda: setattr(scene.radio, "network", CABLE))]
    assert scene.run() == "in a network"
    here = network.NetworkStatus(name="interlude.local", wifi=WRONG)
    assert network.read_status(scene.folder) == here
    again = Scene(scene.folder, scene.page, PaperRadio(network=CABLE, has_profile=True))
    assert again.run(first=False) == "in a network"
    assert network.read_status(scene.folder) == here


def test_a_wifi_that_let_the_box_in_is_no_trouble_any_more(scene: Scene) -> None:
    network.write_status(network.NetworkStatus(wifi=WRONG), scene.folder)
    scene.radio = PaperRadio(network=WIFI, has_profile=True)
    assert scene.run() == "in a network"
    assert network.read_status(scene.folder) == network.NetworkStatus(name="interlude.local")


def test_what_the_card_says_can_be_read_for_as_long_as_it_says_it(scene: Scene) -> None:
    scene.card = "interlude.yaml: There is no mode `loud`."
    scene.at = [(NETWORK_S + 60, lambda: setattr(scene.radio, "network", CABLE))]
    scene.run()
    assert {one.card for one in scene.public if one.setup} == {scene.card}
    assert network.read_status(scene.folder).card == scene.card


def test_a_wifi_that_cannot_be_opened_is_said(scene: Scene) -> None:
    class Broken(PaperRadio):
        def open(self, name: str, password: str) -> None:
            raise StorageError("NetworkManager: no such mode.")

    scene.radio = Broken()
    with pytest.raises(StorageError):
        scene.run()
    assert "no such mode" in scene.said[-1]
    assert scene.radio.story == ["close"]


def test_a_network_manager_that_does_not_answer_now_and_then_ends_nothing(scene: Scene) -> None:
    class Away(PaperRadio):
        asked = 0

        def joined(self) -> JoinedNetwork | None:
            self.asked += 1
            if self.asked % 3:
                raise StorageError("NetworkManager: is not running.")
            return super().joined()

        def names(self) -> list[str]:
            raise StorageError("NetworkManager cannot be asked (time is up).")

    scene.radio = Away()
    scene.at = [(NETWORK_S + 30, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"


def test_what_cannot_be_opened_is_not_said_again_every_few_minutes(scene: Scene) -> None:
    class Broken(PaperRadio):
        def open(self, name: str, password: str) -> None:
            raise StorageError("NetworkManager: no such mode.")

    scene.radio = Broken()
    with pytest.raises(StorageError):
        scene.run(first=False)
    assert scene.said == []


def test_a_radio_that_says_no_at_first_is_asked_again(scene: Scene) -> None:
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


def test_a_box_that_is_still_starting_holds_nothing_up_and_is_told_later(scene: Scene) -> None:
    scene.box_up_s = NETWORK_S + 100
    scene.at = [(NETWORK_S + 20, lambda: submit(scene.page, HOME))]
    assert scene.run() == "set up"
    assert scene.time_s < NETWORK_S + 30
    late = Scene(scene.folder, scene.page, box_up_s=NETWORK_S + 100)
    late.at = [(NETWORK_S + 110, lambda: submit(late.page, HOME))]
    late.run()
    assert sum("with a phone" in sentence for sentence in late.said) == 1


def test_a_cable_is_asked_for_as_soon_as_the_box_can(scene: Scene) -> None:
    scene.radio.wifi = ""
    scene.box_up_s = NETWORK_S + 60
    scene.run()
    assert len(scene.said) == 1
    away = Scene(scene.folder, scene.page, PaperRadio(wifi=""), box_up_s=1e9)
    assert away.run() == "no Wi-Fi in this machine"


def test_each_set_up_has_a_password_of_its_own() -> None:
    made = [SetupSession(PaperRadio(), bool, print) for _ in range(4)]
    assert len({one.password for one in made}) == 4
