"""A Wi-Fi entered during a requested set-up replaces the old one only after it was joined."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.language.catalogue import catalogue
from appliance.provision.apply_seed import ProvisionTarget, apply
from appliance.provision.network_manager import OURS, JoinedNetwork
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.seed_files import CONNECTION, HOST
from appliance.provision.setup_changes import BoxChanges
from appliance.provision.setup_session import ASKED_S, LOOK_S, SetupSession
from appliance.provision.submitted_form import submit
from appliance.update.release.disk_changes import Disk
from tests.provision.setup_scene import CABLE, PASSWORD, PaperRadio

GOOD, TYPO, NEW = "the right one", "the wring one", "another good one"
WORKING = (GOOD, NEW)


def home(password: str, hostname: str = "") -> Seed:
    return Seed(wifi=WifiNetwork(b"Home", password), hostname=hostname)


def passwords(ground: ProvisionTarget) -> list[str]:
    """The passwords of the running system and of the card, which the next start will use."""
    return [psk(ground.root / CONNECTION), psk(ground.keep / CONNECTION)]


def psk(file: Path) -> str:
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.removeprefix("psk=") for line in lines if line.startswith("psk=")), "")


@dataclass
class House:
    """A box in a house whose Wi-Fi accepts any password of WORKING. `types`: the forms that are
    submitted, one each time the page is open."""

    ground: ProvisionTarget
    folder: Path
    types: list[Seed]
    asked: bool = True
    cable: bool = False
    another_is_known: bool = False  # a known Wi-Fi that the box joins whatever the form says
    said: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    on_the_card: list[str] = field(default_factory=list)  # while the page is open
    now_s: float = 0.0

    @property
    def changes(self) -> BoxChanges:
        return BoxChanges(self.ground, self.named.append, self.logged.append)

    def says(self, sentence: str) -> bool:
        self.said.append(sentence)
        return True

    def run(self) -> str:
        house = self

        class Radio(PaperRadio):
            opened = False

            def joined(self) -> JoinedNetwork | None:
                return CABLE if house.cable else self.network

            def known(self) -> list[str]:
                return ["interlude-wifi"] * (house.ground.root / CONNECTION).exists()

            def open(self, name: str, password: str) -> None:
                self.opened, self.network = True, None  # there is one radio

            def close(self) -> None:
                self.opened = False

            def join(self) -> str:
                if not house.another_is_known:
                    return self.enter(OURS)
                self.answers = [""]
                return self.answered()

            def enter(self, name: str) -> str:
                works = psk(house.ground.root / CONNECTION) in WORKING
                self.answers = ["" if works else "The Wi-Fi does not take it."]
                return self.answered()

        radio = Radio()

        def sleep(seconds: float) -> None:
            self.now_s += seconds
            assert self.now_s < 20_000, "the set-up never ends"
            if radio.opened:
                self.on_the_card.append(passwords(self.ground)[1])
                if self.types:
                    submit(self.folder, self.types.pop(0))

        made = SetupSession(
            radio, self.says, self.changes, self.folder, self.folder,
            self.folder, now_s=lambda: self.now_s, sleep=sleep, name="Interlude 4711",
            password=PASSWORD, logs=self.logged.append, words=catalogue("de"),
        )  # fmt: skip
        return made.run(asked=self.asked)


@pytest.fixture
def house(ground: ProvisionTarget, tmp_path: Path) -> House:
    (tmp_path / "page").mkdir()
    apply(home(GOOD), ground)
    return House(ground, tmp_path / "page", [])


def test_joining_another_known_wifi_does_not_count_as_joining_the_entered_one(
    house: House,
) -> None:
    house.another_is_known = True
    house.types = [home(TYPO), home(NEW)]
    assert house.run() == "set up"
    assert house.types == []
    assert passwords(house.ground) == [NEW, NEW]


def test_after_a_mistyped_password_the_box_keeps_its_old_wifi(house: House) -> None:
    house.types = [home(TYPO)]
    assert house.run() == "nobody came"
    assert ASKED_S <= house.now_s < ASKED_S + 10 * LOOK_S
    assert passwords(house.ground) == [GOOD, GOOD]
    assert (
        house.said[-1] == "Ich bin in dem WLAN, das ich vorher hatte. Die Einrichtung ist beendet."
    )
    assert (house.ground.root / CONNECTION).stat().st_mode & 0o777 == 0o600


def test_the_card_keeps_the_old_wifi_while_a_new_one_is_tried(house: House) -> None:
    house.types = [home(TYPO), home(TYPO)]
    house.run()
    assert set(house.on_the_card) == {GOOD}


def test_a_wifi_that_the_box_joins_is_kept(house: House) -> None:
    house.types = [home(TYPO), home(NEW)]
    assert house.run() == "set up"
    assert passwords(house.ground) == [NEW, NEW]
    assert (house.ground.keep / CONNECTION).stat().st_mode & 0o777 == 0o600


def test_the_other_values_of_a_failed_form_are_kept(house: House) -> None:
    house.types = [home(TYPO, "kitchen")]
    house.run()
    assert (house.ground.keep / HOST).read_text() == "kitchen\n"
    assert house.named == ["kitchen"]


def test_with_a_cable_the_old_wifi_is_kept_too(house: House) -> None:
    house.types, house.cable = [home(TYPO)], True
    assert house.run() == "nobody came"
    assert passwords(house.ground) == [GOOD, GOOD]
    assert "vorher hatte" not in house.said[-1]  # the box is connected by the cable


def test_an_unused_set_up_does_not_mention_the_old_wifi(house: House) -> None:
    assert house.run() == "nobody came"
    assert not any("vorher hatte" in sentence for sentence in house.said)


def test_a_box_without_an_old_wifi_keeps_the_entered_one(ground: ProvisionTarget) -> None:
    changes = BoxChanges(ground, print, print)
    changes.apply(home(TYPO), confirmed=True)
    assert not changes.put_back_wifi()
    assert passwords(ground) == [TYPO, TYPO]


def test_a_full_card_keeps_its_old_wifi(house: House) -> None:
    class Full(Disk):
        def write(self, path: Path, data: bytes, mode: int = 0o644) -> None:
            raise OSError(28, "No space left on device")

    house.changes.apply(home(NEW), confirmed=True)
    house.ground = ProvisionTarget(house.ground.root, house.ground.keep, Full())
    with pytest.raises(StorageError, match="No space left"):
        house.changes.keep_wifi(OURS)
    assert passwords(house.ground) == [NEW, GOOD]
    assert not house.changes.put_back_wifi()
    assert "No space left" in house.logged[-1]


def test_no_wifi_is_restored_from_behind_a_link(house: House, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("another's")
    kept = house.ground.keep / CONNECTION
    kept.unlink()
    kept.symlink_to(tmp_path / "elsewhere")
    assert not house.changes.put_back_wifi()
    assert psk(house.ground.root / CONNECTION) == GOOD
