"""What survives a change of the slot: the folders of the box below /var/lib and systemd's timer
stamps, on a partition that grants no rights."""

from __future__ import annotations

import re
import stat
import subprocess
from pathlib import Path

import pytest

from image.initramfs import FOLDER, KEPT

ROOT = Path(__file__).parents[2]


def test_every_persistent_folder_of_the_box_is_on_the_data_partition() -> None:
    rows = (ROOT / "system/usr/lib/tmpfiles.d/interlude.conf").read_text()
    made = set(re.findall(r"^d +/((?:var/lib|etc)/interlude[\w-]*) ", rows, re.MULTILINE))
    assert len(made) == 5
    assert made <= set(KEPT)


def test_the_data_partition_is_mounted_without_setuid_and_devices() -> None:
    mounts = re.findall(
        r"mount -t (?:ext4|tmpfs) -o (\S+) \S+ /sysroot/data\b", (FOLDER / "init").read_text()
    )
    assert len(mounts) == 2  # the partition, and the tmpfs that replaces a missing one
    for options in mounts:
        assert {"nosuid", "nodev"} <= set(options.split(","))


def test_the_stamps_of_persistent_timers_are_on_the_data_partition() -> None:
    """systemd.timer(5), Persistent=: the stamp file below /var/lib/systemd/timers is "stored on
    disk"."""
    timers = (ROOT / "system/usr/lib/systemd/system").glob("*.timer")
    persistent = [path.name for path in timers if "\nPersistent=yes\n" in path.read_text()]
    assert "interlude-pull.timer" in persistent
    assert "var/lib/systemd/timers" in KEPT


def bound(tmp_path: Path) -> dict[str, Path]:
    """Run the loop of init that binds the folders, on trees of the test. Returns place → folder of
    the data partition."""
    (loop,) = re.findall(
        r"^while read -r path; do\n.*?^done </kept$",
        (FOLDER / "init").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    for word in ("/sysroot", "/lower", "/kept"):
        loop = loop.replace(word, f"{tmp_path}{word}")
    (tmp_path / "kept").write_text("".join(f"{line}\n" for line in KEPT))
    script = f'umask 022\nsync() {{ :; }}\nmount() {{ echo "$3 $4"; }}\n{loop}\n'
    done = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True)
    pairs = [line.split() for line in done.stdout.splitlines()]
    return {place.removeprefix(f"{tmp_path}/sysroot"): Path(data) for data, place in pairs}


@pytest.mark.process
def test_an_older_card_gets_a_new_folder_and_an_existing_folder_keeps_its_files(
    tmp_path: Path,
) -> None:
    (tmp_path / "sysroot/data/var/lib/systemd/timesync").mkdir(parents=True)
    (tmp_path / "lower/etc/interlude").mkdir(parents=True, mode=0o750)
    (tmp_path / "lower/etc/interlude/settings.yaml").write_text("of the slot")
    first = bound(tmp_path)
    assert set(first) == {f"/{path}" for path in KEPT}
    timers = first["/var/lib/systemd/timers"]
    # Owned by root, since systemd itself writes there.
    assert stat.S_IMODE(timers.stat().st_mode) == 0o755
    assert list(timers.iterdir()) == []
    settings = first["/etc/interlude"] / "settings.yaml"
    assert settings.read_text() == "of the slot"
    (timers / "stamp-interlude-pull.timer").touch()
    settings.write_text("the owner's")
    again = bound(tmp_path)
    assert again == first
    assert (timers / "stamp-interlude-pull.timer").exists()
    assert settings.read_text() == "the owner's"


@pytest.mark.process
def test_a_copy_interrupted_by_a_power_cut_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "sysroot/data/etc/interlude.new").mkdir(parents=True)
    (tmp_path / "sysroot/data/etc/interlude.new/half").touch()
    (tmp_path / "lower/etc/interlude").mkdir(parents=True)
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / "lower/etc/interlude" / name).touch()
    folder = bound(tmp_path)["/etc/interlude"]
    assert {path.name for path in folder.iterdir()} == {"a.yaml", "b.yaml"}
    assert not folder.with_name("interlude.new").exists()
