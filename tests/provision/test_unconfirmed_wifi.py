"""A Wi-Fi that is typed into a set-up that nobody asked for is a second one until it is confirmed.

The box has a Wi-Fi, its router is off, and somebody else is near: he heard the box say the password
of its set-up Wi-Fi.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from appliance.language.catalogue import english
from appliance.provision.apply_seed import (
    ProvisionTarget,
    apply,
    forget_unconfirmed,
    remove_provisioning,
)
from appliance.provision.change_network import NetworkChanges
from appliance.provision.network_manager import OURS, UNCONFIRMED, JoinedNetwork
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.seed_files import CONNECTION, confirmed_connection, connection
from appliance.provision.seed_files import UNCONFIRMED as UNCONFIRMED_FILE
from appliance.provision.setup_changes import BoxChanges
from appliance.provision.setup_session import SetupSession
from appliance.provision.submitted_form import submit
from appliance.runtime.network_status import NetworkStatus, read_status, write_status
from appliance.settings.network_change import NetworkChange
from tests.provision.setup_scene import PASSWORD, PaperRadio

FILES = {OURS: CONNECTION, UNCONFIRMED: UNCONFIRMED_FILE}
HOME, STREET = WifiNetwork(b"Home", "correct horse"), WifiNetwork(b"Street", "battery staple")


@dataclass
class Air(PaperRadio):
    """NetworkManager, with the profiles of `ground`. `there`: the Wi-Fis in reach. It writes the
    status as network_manager.py does."""

    ground: ProvisionTarget = field(default_factory=ProvisionTarget)
    there: list[WifiNetwork] = field(default_factory=list)
    public: Path = Path()
    held_at_entry: list[tuple[str, str]] = field(default_factory=list)

    def names(self) -> list[str]:
        return [wifi.name.decode() for wifi in self.there]

    def known(self) -> list[str]:
        return [name for name, file in FILES.items() if (self.ground.root / file).exists()]

    def join(self) -> str:
        answers = [self.enter(name) for name in self.known() if self.network is None]
        return "" if self.network else answers[0]

    def enter(self, name: str) -> str:
        if name == UNCONFIRMED:
            write_status(NetworkStatus(unconfirmed="x"), self.public)
        text = (self.ground.root / FILES[name]).read_text()
        made = [connection(wifi, confirmed=name == OURS) for wifi in self.there]
        if text not in made:
            return "The Wi-Fi is out of range."
        self.network = JoinedNetwork("wifi", "wlan0", name)
        self.see_unconfirmed()
        return ""

    def see_unconfirmed(self) -> str:
        held = "x" if self.network is not None and self.network.connection == UNCONFIRMED else ""
        write_status(NetworkStatus(unconfirmed=held), self.public)
        return held


@dataclass
class Street:
    """The box, with its Wi-Fi HOME on the card."""

    ground: ProvisionTarget
    folder: Path
    air: Air
    said: list[str] = field(default_factory=list)
    now_s: float = 0.0

    def says(self, sentence: str) -> bool:
        self.said.append(sentence)
        return True

    def set_up(self, typed: Seed, *, asked: bool = False, settled: bool = True) -> str:
        def sleep(seconds: float) -> None:
            self.now_s += seconds
            assert self.now_s < 20_000
            if read_status(self.folder).setup and not pending:
                pending.append(typed)
                submit(self.folder, typed)

        pending: list[Seed] = []
        made = SetupSession(
            self.air, self.says, BoxChanges(self.ground, print, print), self.folder, self.folder,
            self.folder, settled=lambda: settled, now_s=lambda: self.now_s, sleep=sleep,
            name="Interlude 4711", password=PASSWORD, words=english(),
        )  # fmt: skip
        return made.run(asked=asked)

    def saved(self, file: str = CONNECTION) -> str:
        path = self.ground.keep / file
        return path.read_text() if path.exists() else ""

    def change(self, doing: str) -> str:
        request = NetworkChange("0" * 16, doing)  # type: ignore[arg-type]  # a page's request
        return NetworkChanges(self.air, self.ground).change(request).problem


@pytest.fixture
def street(ground: ProvisionTarget, tmp_path: Path) -> Street:
    folder = tmp_path / "run"
    folder.mkdir()
    apply(Seed(wifi=HOME), ground)
    return Street(ground, folder, Air(ground=ground, public=folder, there=[STREET]))


def test_a_strangers_wifi_is_joined_beside_the_owners_and_held_back_from_the_broker(
    street: Street,
) -> None:
    assert street.set_up(Seed(wifi=STREET)) == "set up"
    assert street.saved() == connection(HOME)
    assert street.saved(UNCONFIRMED_FILE) == connection(STREET, confirmed=False)
    assert read_status(street.folder).unconfirmed
    assert "do not connect to Home Assistant" in street.said[-1]


def test_a_strangers_wifi_is_never_joined_by_network_manager_itself(street: Street) -> None:
    street.set_up(Seed(wifi=STREET))
    assert "autoconnect=false" in street.saved(UNCONFIRMED_FILE)
    assert "autoconnect=true" in street.saved()


def test_the_owners_wifi_is_joined_first_when_it_is_there_again(street: Street) -> None:
    street.set_up(Seed(wifi=STREET))
    street.air.network = None
    street.air.there.append(HOME)
    assert street.air.join() == ""
    assert read_status(street.folder).unconfirmed == ""


@pytest.mark.parametrize(
    ("typed", "name"),
    [(HOME, OURS), (WifiNetwork(HOME.name, "another one"), UNCONFIRMED), (STREET, UNCONFIRMED)],
)
def test_only_the_owners_wifi_with_its_password_needs_no_confirmation(
    street: Street, typed: WifiNetwork, name: str
) -> None:
    changes = BoxChanges(street.ground, print, print)
    assert changes.apply(Seed(wifi=typed), confirmed=False) == name
    assert street.saved() == connection(HOME)


@pytest.mark.parametrize(("asked", "settled"), [(True, True), (False, False)])
def test_a_wifi_of_a_set_up_by_the_button_or_of_a_new_box_needs_no_confirmation(
    street: Street, asked: bool, settled: bool
) -> None:
    assert street.set_up(Seed(wifi=STREET), asked=asked, settled=settled) == "set up"
    assert street.saved() == connection(STREET)
    assert street.saved(UNCONFIRMED_FILE) == ""
    assert read_status(street.folder).unconfirmed == ""


def test_a_set_up_by_the_button_forgets_the_strangers_wifi(street: Street) -> None:
    street.set_up(Seed(wifi=STREET))
    street.air.network = None
    street.air.there = [HOME]
    assert street.set_up(Seed(wifi=HOME), asked=True) == "set up"
    assert street.saved(UNCONFIRMED_FILE) == ""
    assert not (street.ground.root / UNCONFIRMED_FILE).exists()


def test_after_the_owner_confirms_it_the_new_wifi_replaces_the_old_one(street: Street) -> None:
    street.set_up(Seed(wifi=STREET))
    assert street.change("confirm") == ""
    assert street.saved() == connection(STREET)
    assert (street.ground.keep / CONNECTION).stat().st_mode & 0o777 == 0o600
    assert street.saved(UNCONFIRMED_FILE) == ""
    assert read_status(street.folder).unconfirmed == ""
    assert "no Wi-Fi to confirm" in street.change("confirm")


def test_a_confirmation_of_a_wifi_that_is_gone_changes_nothing(street: Street) -> None:
    street.set_up(Seed(wifi=STREET))
    street.air.there = []
    assert "out of range" in street.change("confirm")
    assert street.saved() == (street.ground.root / CONNECTION).read_text() == connection(HOME)
    assert street.saved(UNCONFIRMED_FILE) == connection(STREET, confirmed=False)


def test_a_damaged_file_is_not_confirmed(street: Street) -> None:
    street.set_up(Seed(wifi=STREET))
    for text in (b"", b"\xff", b"[wifi]\nssid=300;\n\n", b"[wifi]\nssid=65;"):
        (street.ground.root / UNCONFIRMED_FILE).write_bytes(text)
        assert "damaged" in street.change("confirm")
    assert street.saved() == connection(HOME)


@pytest.mark.parametrize("name", [b"Home", b"ssid=\n", b"\xff;\\"])
def test_a_confirmed_connection_differs_only_in_its_names_and_that_it_is_joined_alone(
    name: bytes,
) -> None:
    wifi = WifiNetwork(name, "  pass;word\\ ", hidden=True)
    assert confirmed_connection(connection(wifi, confirmed=False)) == connection(wifi)


def test_a_reset_and_a_seed_on_the_card_forget_the_strangers_wifi(street: Street) -> None:
    street.set_up(Seed(wifi=STREET))
    forget_unconfirmed(street.ground)  # as first_start.py after a seed with a Wi-Fi
    assert street.saved(UNCONFIRMED_FILE) == ""
    street.air.network = None
    street.set_up(Seed(wifi=STREET))
    remove_provisioning(street.ground)
    assert list(street.ground.keep.rglob("*.nmconnection")) == []
    assert list(street.ground.root.rglob("*.nmconnection")) == []
