"""The first start of a card: it generates its own keys, and applies a seed once and wipes it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.provision.apply_seed import ProvisionTarget, apply
from appliance.provision.first_start import ProvisionResult, host_keys, provision
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.seed_files import UNCONFIRMED
from appliance.update.system.block_device import ImageDisk
from tests.provision.test_seed_parsers import NETWORK, OWN, PSK, USER_DATA
from tests.update.release.workshop import MortalDisk, TightDisk
from tests.update.system.workshop import FAT_MIB, fat

pytestmark = pytest.mark.process

AUTOBOOT = b"boot_partition=2\n"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host keys of a box, generated once because that is slow."""
    base = tmp_path_factory.mktemp("keys")
    host_keys(ProvisionTarget(base / "root", base / "keep"))
    return base / "keep/etc/ssh"


@pytest.fixture
def ground(ground: ProvisionTarget, keys: Path) -> ProvisionTarget:
    """A box that already has host keys."""
    shutil.copytree(keys, ground.keep / "etc/ssh")
    return ground


def card(folder: Path, **files: str) -> ImageDisk:
    names = {"user": "user-data", "network": "network-config", "meta": "meta-data",
             "own": "interlude.yaml"}  # fmt: skip
    carried = {names[key]: text.encode() for key, text in files.items()}
    image = fat(folder / "config.fat", {"autoboot.txt": AUTOBOOT, **carried})
    return ImageDisk(image, {"bootconfig": (0, FAT_MIB << 20)})


def test_a_seed_of_imager_is_applied_and_wiped(ground: ProvisionTarget, tmp_path: Path) -> None:
    new = card(tmp_path, user=USER_DATA, network=NETWORK, meta="instance-id: x\n")
    result = provision(new, ground)
    assert result.problem == ""
    assert "etc/hostname" in result.seeded
    raw = (tmp_path / "config.fat").read_bytes()
    assert PSK.encode() not in raw
    assert b"notAHash" not in raw
    assert AUTOBOOT in raw
    assert (ground.keep / "etc/hostname").read_text() == "kitchen\n"
    assert provision(new, ground) == ProvisionResult()


def test_a_wifi_on_the_card_replaces_one_that_nobody_has_confirmed(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    apply(Seed(wifi=WifiNetwork(b"Street", "battery staple")), ground, confirmed=False)
    assert (ground.keep / UNCONFIRMED).exists()
    provision(card(tmp_path, own="hostname: kitchen\n"), ground)
    assert (ground.keep / UNCONFIRMED).exists()
    provision(card(tmp_path, user=USER_DATA, network=NETWORK), ground)
    assert not (ground.keep / UNCONFIRMED).exists()
    assert not (ground.root / UNCONFIRMED).exists()


def test_the_remains_of_an_earlier_edit_are_wiped_too(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    own = OWN.replace("model: gemma-4-e2b", "model: pocket")
    new = card(tmp_path, own=own.replace("correct horse", "earlier horse"))
    (tmp_path / "interlude.yaml").write_text(own)
    image = tmp_path / "config.fat"
    subprocess.run(["mcopy", "-o", "-i", image, tmp_path / "interlude.yaml", "::"], check=True)
    assert b"earlier horse" in image.read_bytes()
    assert provision(new, ground).seeded
    assert b" horse" not in image.read_bytes()


def test_no_login_password_is_taken_from_a_seed(ground: ProvisionTarget, tmp_path: Path) -> None:
    provision(card(tmp_path, user=USER_DATA), ground)
    for path in (*ground.root.rglob("*"), *ground.keep.rglob("*")):
        assert not (path.is_file() and b"notAHash" in path.read_bytes())
    assert not (ground.keep / "etc/shadow").exists()


@pytest.mark.parametrize(
    ("word", "bad", "why"),
    [
        ("wake_word", "loud", "no mode `loud`"),
        (
            'wake_word\ncard: "plughw:CARD=Array"\npanel: codec-zero',
            "push_to_talk\npanel: none",
            "This box has no button",
        ),
        ("codec-zero", "keyboard", "no panel `keyboard`"),
        ("plughw:CARD=Array", "my card", "not a sound card"),
        ("gemma-4-e2b", "gemma", "no model `gemma`"),
        ("Europe/Berlin", "Europe/Berln", "no time zone"),
        ("kitchen", "my kitchen", "not a host name"),
    ],
)
def test_an_invalid_seed_is_reported_and_kept_on_the_card(
    ground: ProvisionTarget, tmp_path: Path, word: str, bad: str, why: str
) -> None:
    new = card(tmp_path, own=OWN.replace(word, bad))
    result = provision(new, ground)
    assert why in result.problem
    assert result.seeded == ()
    assert not (ground.keep / "etc/hostname").exists()
    assert b"correct horse" in (tmp_path / "config.fat").read_bytes()


def test_a_seed_that_does_not_fit_on_the_disk_is_reported_and_applied_at_the_next_start(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    own = OWN.replace("model: gemma-4-e2b", "model: pocket")
    new, counted = card(tmp_path, own=own), MortalDisk()
    host_keys(replace(ground, disk=counted))
    full = replace(ground, disk=TightDisk(1 << 30, full_after=counted.changes + 8))
    result = provision(new, full)
    assert "No space left" in result.problem
    assert b"correct horse" in (tmp_path / "config.fat").read_bytes()
    assert provision(new, ground).seeded
    assert b"correct horse" not in (tmp_path / "config.fat").read_bytes()


def test_a_file_above_the_size_limit_is_refused(ground: ProvisionTarget, tmp_path: Path) -> None:
    assert "at most" in provision(card(tmp_path, own="#" * 70_000), ground).problem


def test_a_card_without_a_seed_gets_its_keys(ground: ProvisionTarget, tmp_path: Path) -> None:
    shutil.rmtree(ground.keep / "etc")
    assert provision(card(tmp_path), ground) == ProvisionResult()
    private = ground.keep / "etc/ssh/ssh_host_ed25519_key"
    assert private.stat().st_mode & 0o777 == 0o600
    assert (ground.root / "etc/ssh/ssh_host_ed25519_key").read_bytes() == private.read_bytes()


def test_existing_keys_are_kept_and_only_a_broken_one_is_replaced(ground: ProvisionTarget) -> None:
    folder = ground.keep / "etc/ssh"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    host_keys(ground)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "ssh_host_ed25519_key").write_bytes(b"")  # the state after a power cut
    host_keys(ground)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"ssh_host_ed25519_key", "ssh_host_ed25519_key.pub"}


def named(folder: Path, **files: str) -> ImageDisk:
    """A card with files of these names, where `_` stands for a dot."""
    image = fat(folder / "named.fat", {n.replace("_", "."): t.encode() for n, t in files.items()})
    return ImageDisk(image, {"bootconfig": (0, FAT_MIB << 20)})


@pytest.mark.parametrize(
    "name", ["interlude.yaml.txt", "interlude.yml", "Interlude.YML.txt", "interlude.txt",
             "interlude (1).yaml", "interlude.yaml.yaml", "interlude.rtf",
             "firstrun.sh", "custom.toml", "rpi-preseed.toml"]
)  # fmt: skip
def test_a_misnamed_seed_is_reported_and_not_applied(
    ground: ProvisionTarget, tmp_path: Path, name: str
) -> None:
    new = named(tmp_path, **{name: OWN})
    assert provision(new, ground) == ProvisionResult(misnamed=name)
    assert not (ground.keep / "etc/hostname").exists()
    assert b"correct horse" in (tmp_path / "named.fat").read_bytes()


@pytest.mark.parametrize(
    "name", ["autoboot.txt", "interlude.yaml.bak", "._interlude.yaml", "notes.txt", "x.yml"]
)
def test_an_unrelated_file_is_ignored(ground: ProvisionTarget, tmp_path: Path, name: str) -> None:
    assert provision(named(tmp_path, **{name: "x"}), ground) == ProvisionResult()


def test_a_seed_is_applied_and_a_misnamed_one_beside_it_is_reported(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    result = provision(
        named(tmp_path, interlude_yaml="hostname: attic\n", interlude_yml=OWN), ground
    )
    assert (result.problem, result.misnamed) == ("", "interlude.yml")
    assert (ground.keep / "etc/hostname").read_text() == "attic\n"


@pytest.mark.parametrize("name", ["user-data", "interlude.yaml"])
def test_a_seed_of_zeros_left_by_an_interrupted_wipe_is_ignored(
    ground: ProvisionTarget, tmp_path: Path, name: str
) -> None:
    image = fat(tmp_path / "config.fat", {name: bytes(900)})
    new = ImageDisk(image, {"bootconfig": (0, FAT_MIB << 20)})
    assert provision(new, ground) == ProvisionResult()
