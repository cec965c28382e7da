"""A reset removes what the owner brought, complete or partly written, and keeps what belongs to the
box."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.provision.apply_seed import (
    PULL,
    ZONE,
    ProvisionTarget,
    apply,
    remove_provisioning,
)
from appliance.provision.seed import Seed
from appliance.provision.seed_files import (
    CONNECTION,
    KEYS,
    OF_THE_SYSTEM,
    PASSWORD,
    SETTINGS,
    WANTED,
    plan,
)
from appliance.settings.models import OwnFile, OwnModel
from appliance.settings.owner_settings import OwnerSettings, fingerprint
from appliance.settings.settings_change import SettingsChange
from appliance.update.release import look_record
from appliance.update.release.disk_changes import Disk
from tests.provision.seeds import WHOLE, tree


def test_a_reset_removes_everything_that_a_seed_wrote(ground: ProvisionTarget) -> None:
    """Covers every field of a seed, so that a new field cannot be forgotten."""
    own = OwnModel(text=OwnFile(file="a.gguf", size=1, sha256="0" * 64),
                   audio=OwnFile(file="b.gguf", size=1, sha256="1" * 64))  # fmt: skip
    complete = dataclasses.replace(WHOLE, port=1884, voice="ljspeech", models={"mine": own})
    seed = dataclasses.replace(complete, model="gemma-4-e2b")
    assert all(getattr(seed, row.name) for row in dataclasses.fields(Seed))
    before = tree(ground.root)
    (ground.root / SETTINGS).unlink()
    written = apply(dataclasses.replace(seed, model=""), ground)
    (ground.root / WANTED).write_text(seed.model)
    assert {file.path for file in plan(seed)} == {*written, WANTED}
    remove_provisioning(ground)
    assert tree(ground.keep) == {}
    of_memory = {*OF_THE_SYSTEM, ZONE}  # the root of our image is created anew at each boot
    assert set(tree(ground.root)) <= {*before, *of_memory} - {SETTINGS}
    remove_provisioning(ground)  # removing missing files is no error


def test_a_reset_removes_the_settings_that_undo_would_restore(ground: ProvisionTarget) -> None:
    owner = OwnerSettings(
        ground.root / SETTINGS, ground.root / "etc/interlude/secrets/mqtt-password", lambda _: None
    )
    for broker in ("first.local", "second.local"):
        base = fingerprint(owner.text())
        owner.change(SettingsChange("0" * 16, base, {"link.broker": broker}, broker))
    assert owner.can_undo()
    remove_provisioning(ground)
    left = b" ".join(data for _, data in tree(ground.root).values())
    assert b"first.local" not in left
    assert b"second.local" not in left


def test_a_reset_removes_other_secrets_and_warnings_too(ground: ProvisionTarget) -> None:
    for name in ("etc/interlude/secrets/thinking-key", "var/log/interlude/warnings.log",
                 "var/log/interlude/warnings.log.1"):  # fmt: skip
        (ground.root / name).parent.mkdir(parents=True, exist_ok=True)
        (ground.root / name).write_text("of the last owner's")
    remove_provisioning(ground)
    assert b"of the last owner's" not in [data for _, data in tree(ground.root).values()]


def test_a_reset_removes_the_login_of_a_fleet_server(ground: ProvisionTarget) -> None:
    assert Path("/", PULL) == look_record.PULL
    (ground.root / PULL).write_text("PULL_URL=https://box:word@fleet.example/sheet.json\n")
    remove_provisioning(ground)
    assert not (ground.root / PULL).exists()


@pytest.mark.parametrize("file", [CONNECTION, KEYS, PASSWORD, SETTINGS])
def test_a_reset_removes_temporary_files_left_by_a_power_cut(
    ground: ProvisionTarget, file: str
) -> None:
    class Dark(Disk):
        def rename(self, path: Path, to: Path) -> None:
            if to.name == Path(file).name:
                raise OSError(5, "the power is gone")
            super().rename(path, to)

    before = {name: data for name, data in tree(ground.root).items() if "settings" not in name}
    for base in (ground.keep, ground.root):  # the power cut hits each of the two copies in turn
        with pytest.raises(StorageError):
            apply(WHOLE, ProvisionTarget(ground.root, base, Dark()))
        assert any(name.endswith(".new") for name in (*tree(ground.root), *tree(ground.keep)))
    remove_provisioning(ground)
    assert tree(ground.keep) == {}
    left = {path for path in tree(ground.root) if path.endswith(".new")}
    assert left == set()
    assert set(tree(ground.root)) <= {*before, *OF_THE_SYSTEM, ZONE}


def test_a_reset_keeps_what_belongs_to_the_box(ground: ProvisionTarget) -> None:
    own = ("etc/machine-id", "etc/ssh/ssh_host_ed25519_key")
    for name in own:
        (ground.keep / name).parent.mkdir(parents=True, exist_ok=True)
        (ground.keep / name).write_text("its own")
    signers = ground.root / "etc/interlude/allowed_signers"
    signers.write_text("whose releases it installs")
    remove_provisioning(ground)
    assert set(tree(ground.keep)) == set(own)
    assert signers.exists()


def test_a_file_that_cannot_be_removed_is_named_and_the_others_are_removed(
    ground: ProvisionTarget,
) -> None:
    apply(WHOLE, ground)
    (ground.root / "etc/NetworkManager").rename(ground.root / "elsewhere")
    (ground.root / "etc/NetworkManager").symlink_to(ground.root / "elsewhere")
    with pytest.raises(StorageError, match="etc/NetworkManager is no folder"):
        remove_provisioning(ground)
    assert not (ground.root / PASSWORD).exists()
    assert not (ground.root / KEYS).exists()
    assert not (ground.root / SETTINGS).exists()


def test_a_reset_removes_no_file_behind_a_link(ground: ProvisionTarget, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "warnings.log").write_text("another's")
    (ground.root / "var/log").mkdir(parents=True)
    (ground.root / "var/log/interlude").symlink_to(elsewhere)
    with pytest.raises(StorageError, match="var/log/interlude"):
        remove_provisioning(ground)
    assert (elsewhere / "warnings.log").exists()


def test_a_log_that_cannot_be_removed_does_not_keep_the_others(ground: ProvisionTarget) -> None:
    logs = ground.root / "var/log/interlude"
    inside = logs / "warnings.log"
    for _ in range(70):  # deeper than the erase goes
        inside /= "d"
    inside.mkdir(parents=True)
    for number in range(1, 9):
        (logs / f"warnings.log.{number}").touch()
    with pytest.raises(StorageError, match="var/log/interlude could not be changed"):
        remove_provisioning(ground)
    assert [path.name for path in logs.iterdir()] == ["warnings.log"]
