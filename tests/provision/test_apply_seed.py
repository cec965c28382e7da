"""Applying a seed to a box: every file with its mode, all of them or none, and again after a power
cut."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
from pathlib import Path

import pytest

from appliance.errors import SeedRefused, StorageError
from appliance.provision import time_zones
from appliance.provision.apply_seed import (
    ZONE,
    ProvisionTarget,
    apply,
)
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.seed_files import (
    CONNECTION,
    PASSWORD,
    SETTINGS,
    TIMEZONE,
    WANTED,
)
from appliance.settings import load
from appliance.update.release.disk_changes import Disk
from tests.provision.ground import shipped
from tests.provision.seeds import KEY, SECRET, WHOLE, tree


def test_a_seed_is_written_to_the_running_system_and_to_the_data_partition(
    ground: ProvisionTarget,
) -> None:
    apply(WHOLE, ground)
    kept, live = tree(ground.keep), tree(ground.root)
    assert kept["etc/hostname"] == (0o644, b"kitchen\n")
    assert kept["root/.ssh/authorized_keys"] == (0o600, f"{KEY}\n".encode())
    assert kept[CONNECTION][0] == 0o600
    assert kept["etc/localtime"][1] == b"/usr/share/zoneinfo/Europe/Berlin"
    assert b"ieee80211_regdom=DE" in kept["etc/modprobe.d/interlude-country.conf"][1]
    for name, file in kept.items():
        assert live[name] == file
    assert live[PASSWORD] == (0o600, f"{SECRET}\n".encode())
    assert PASSWORD not in kept  # /etc/interlude is on the data partition
    for private in ("root/.ssh", "root"):
        assert (ground.keep / private).stat().st_mode & 0o777 == 0o700
    assert (ground.root / "etc/interlude/secrets").stat().st_mode & 0o777 == 0o700


def test_the_settings_of_a_seed_load_and_name_the_broker(ground: ProvisionTarget) -> None:
    apply(WHOLE, ground)
    settings = load(ground.root / SETTINGS)
    assert (settings.mode, settings.link.broker) == ("wake_word", "homeassistant.local")
    assert (settings.link.user, settings.link.name) == ("interlude", "Kitchen")
    assert SECRET not in (ground.root / SETTINGS).read_text()
    assert "# The owner's settings" in (ground.root / SETTINGS).read_text()


def test_settings_of_the_owner_are_kept(ground: ProvisionTarget) -> None:
    (ground.root / SETTINGS).write_text("log: debug\nlink: {broker: old, words: true}\n")
    apply(Seed(broker="new"), ground)
    settings = load(ground.root / SETTINGS)
    assert (settings.log, settings.link.broker, settings.link.words) == ("debug", "new", True)


def test_an_empty_seed_changes_nothing(ground: ProvisionTarget) -> None:
    before = tree(ground.root)
    assert apply(Seed(), ground) == []
    assert (tree(ground.root), tree(ground.keep)) == (before, {})


def test_a_former_time_zone_name_is_replaced_by_the_current_one(
    ground: ProvisionTarget,
) -> None:
    """Imager writes this name for Kyiv; Debian 13 without tzdata-legacy has no file for it."""
    zones = ground.root / time_zones.FOLDER
    (zones / "Europe/Kyiv").touch()
    (zones / time_zones.TABLE).write_text("L Europe/Kyiv Europe/Kiev\n")
    written = apply(Seed(timezone="Europe/Kiev", wifi=WifiNetwork(b"Home", "12345678")), ground)
    assert CONNECTION in written
    for base in (ground.keep, ground.root):
        assert (base / TIMEZONE).read_text() == "Europe/Kyiv\n"
        assert (base / ZONE).readlink() == Path("/usr/share/zoneinfo/Europe/Kyiv")


@pytest.mark.parametrize(
    "bad",
    [
        Seed(hostname="kitchen", wifi=WifiNetwork(b"Home", "short")),
        Seed(hostname="kitchen", timezone="Europe/Nowhere"),
        Seed(hostname="kitchen", mode="loud"),
    ],
)
def test_a_seed_with_one_invalid_value_changes_nothing(ground: ProvisionTarget, bad: Seed) -> None:
    before = tree(ground.root)
    with pytest.raises(SeedRefused):
        apply(bad, ground)
    assert (tree(ground.root), tree(ground.keep)) == (before, {})


def test_a_seed_sets_the_card_for_both_directions_and_the_panel(ground: ProvisionTarget) -> None:
    (ground.root / SETTINGS).write_text("card: {period_ms: 10}\npanel: {light: none}\n")
    apply(Seed(card="plughw:CARD=Jabra", panel="header", mode="push_to_talk"), ground)
    settings = load(ground.root / SETTINGS)
    assert (settings.card.capture, settings.card.playback) == ("plughw:CARD=Jabra",) * 2
    assert settings.card.period_ms == 10
    assert (settings.panel.gpio, settings.panel.light) == ("header", "none")
    assert settings.mode == "push_to_talk"


def test_push_to_talk_requires_a_button_on_this_machine(ground: ProvisionTarget) -> None:
    seed = Seed(mode="push_to_talk", hostname="kitchen")
    with pytest.raises(SeedRefused, match="This box has no button"):
        apply(seed, ground)
    assert tree(ground.keep) == {}
    with pytest.raises(SeedRefused, match="This box has no button"):
        apply(dataclasses.replace(seed, panel="none"), ground)
    pi = ground.root / "proc/device-tree"
    pi.mkdir(parents=True)
    (pi / "compatible").write_text("raspberrypi,5-model-b\0brcm,bcm2712\0")
    apply(seed, ground)
    assert load(ground.root / SETTINGS).mode == "push_to_talk"


@pytest.mark.parametrize("now", ["card: [", "- a\n", "nonsense: 1\n"])
def test_invalid_settings_are_left_unchanged(ground: ProvisionTarget, now: str) -> None:
    (ground.root / SETTINGS).write_text(now)
    before = tree(ground.root)
    with pytest.raises(SeedRefused):
        apply(Seed(mode="wake_word", hostname="kitchen"), ground)
    assert (tree(ground.root), tree(ground.keep)) == (before, {})


class MortalDisk(Disk):
    def __init__(self, dies_after: int) -> None:
        self._left = dies_after

    def sync(self, folder: Path) -> None:
        """Does not sync: the kernel survives the death of the process."""
        self._done()

    def _done(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.process
def test_an_interrupted_apply_is_completed_by_the_next_start(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    twin = ProvisionTarget(tmp_path / "twin/root", tmp_path / "twin/keep")
    for path in (twin.root / "usr/share/zoneinfo/Europe", twin.root / "etc/interlude"):
        path.mkdir(parents=True)
    (twin.root / "usr/share/zoneinfo/Europe/Berlin").touch()
    (twin.root / SETTINGS).write_bytes((ground.root / SETTINGS).read_bytes())
    # Without settings: only their check takes time, and they are written like the other files.
    seed = dataclasses.replace(
        WHOLE, language="", mode="", card="", panel="", name="", broker="", user="", password=""
    )
    apply(seed, twin)
    expected = tree(twin.root)
    cuts = 0
    while True:
        child = os.fork()
        if child == 0:
            apply(seed, ProvisionTarget(ground.root, ground.keep, MortalDisk(cuts + 1)))
            os._exit(0)
        if os.WIFEXITED(os.waitpid(child, 0)[1]):
            break
        for name, (mode, data) in tree(ground.root).items():
            if not name.endswith(".new"):  # complete, or absent
                assert (mode, data) == expected[name]
        cuts += 1
    assert cuts > 20
    left = {name: file for name, file in tree(ground.keep).items() if not name.endswith(".new")}
    assert left == tree(twin.keep)


class Cut(Disk):
    """Interrupts apply() in this process after `steps` changes."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def _done(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise InterruptedError("power cut")


def test_an_interrupted_apply_never_sets_a_model_without_requesting_its_download(
    tmp_path: Path,
) -> None:
    """A form from the page is not applied again at the next start, unlike a seed on the card."""
    seen = set()
    for steps in range(100):
        cut = Cut(steps)
        ground = dataclasses.replace(shipped(tmp_path / str(steps)), disk=cut)
        with contextlib.suppress(StorageError):
            apply(Seed(hostname="kitchen", model="gemma-4-e2b", voice="ljspeech"), ground)
        names = load(ground.root / SETTINGS).thinking.model == "gemma-4-e2b"
        requested = (ground.root / WANTED).exists()
        assert requested or not names
        seen.add((names, requested))
        if cut.left >= 0:
            break
    assert seen == {(False, False), (False, True), (True, True)}


FOLDERS = ("etc", "etc/interlude", "etc/interlude/secrets", "root", "root/.ssh",
           "etc/NetworkManager", "etc/NetworkManager/system-connections")  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_written_into_a_folder_that_is_a_link(
    ground: ProvisionTarget, tmp_path: Path, folder: str
) -> None:
    trap = tmp_path / "trap"
    trap.mkdir(mode=0o755)
    for base in (ground.root, ground.keep):
        place = base / folder
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            shutil.rmtree(place)
        place.symlink_to(trap)
    before = tree(ground.root), tree(ground.keep)
    with pytest.raises(StorageError, match="is no folder"):
        apply(dataclasses.replace(WHOLE, model="gemma-4-e2b"), ground)
    assert list(trap.rglob("*")) == []
    assert (tree(ground.root), tree(ground.keep)) == before  # all of it or nothing


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_nothing_is_written_into_a_folder_that_others_may_change(
    ground: ProvisionTarget, mode: int
) -> None:
    place = ground.root / "etc/interlude"
    place.chmod(mode)
    if mode == 0o775:
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder to another group")
        os.chown(place, -1, 12_345)
    with pytest.raises(StorageError, match="another user"):
        apply(Seed(model="gemma-4-e2b"), ground)
    place.chmod(0o755)
    assert WANTED in apply(Seed(model="gemma-4-e2b"), ground)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_nothing_is_written_into_a_folder_of_another_user(ground: ProvisionTarget) -> None:
    place = ground.root / "etc/interlude"
    os.chown(place, 12_345, 12_345)
    with pytest.raises(StorageError, match="another user"):
        apply(Seed(model="gemma-4-e2b"), ground)
    assert not (place / "model-wanted").exists()


def test_a_link_at_the_name_of_the_temporary_file_is_not_followed(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("as it was")
    (ground.root / "etc/interlude/.model-wanted.new").symlink_to(victim)
    (ground.root / WANTED).symlink_to(victim)
    apply(Seed(model="gemma-4-e2b"), ground)
    assert victim.read_text() == "as it was"
    assert (ground.root / WANTED).read_text() == "gemma-4-e2b\n"


def test_everything_that_root_writes_belongs_to_root(ground: ProvisionTarget) -> None:
    apply(dataclasses.replace(WHOLE, model="gemma-4-e2b"), ground)
    for path in (*ground.root.rglob("*"), *ground.keep.rglob("*")):
        assert path.lstat().st_uid == os.geteuid()
    assert (ground.root / WANTED).stat().st_mode & 0o777 == 0o644


def test_a_value_that_cannot_be_encoded_is_refused_before_anything_is_written(
    ground: ProvisionTarget,
) -> None:
    before = tree(ground.root)
    with pytest.raises(SeedRefused):
        apply(Seed(hostname="kitchen", keys=(f"{KEY} \ud800",)), ground)
    assert (tree(ground.root), tree(ground.keep)) == (before, {})
