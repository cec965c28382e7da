"""What outlives a slot: each folder of the box below /var/lib, and systemd's of what ran when, on a
partition without rights."""

from __future__ import annotations

import re
import stat
import subprocess
from pathlib import Path

import pytest

from image.initramfs import FOLDER, KEPT

ROOT = Path(__file__).parents[2]


def test_every_folder_of_the_boxs_that_lasts_lies_on_data() -> None:
    rows = (ROOT / "system/usr/lib/tmpfiles.d/interlude.conf").read_text()
    made = set(re.findall(r"^d +/((?:var/lib|etc)/interlude[\w-]*) ", rows, re.MULTILINE))
    assert len(made) == 5
    assert made <= set(KEPT)


def test_no_file_of_data_gives_rights_or_is_a_device() -> None:
    mounts = re.findall(
        r"mount -t (?:ext4|tmpfs) -o (\S+) \S+ /sysroot/data\b", (FOLDER / "init").read_text()
    )
    assert len(mounts) == 2  # the partition, and the memory that stands in for one
    for options in mounts:
        assert {"nosuid", "nodev"} <= set(options.split(","))


def test_when_a_timer_last_ran_lies_on_data_if_one_makes_up_for_what_it_missed() -> None:
    """systemd.timer(5), Persistent=: a stamp below /var/lib/systemd/timers, "stored on disk"."""
    timers = (ROOT / "system/usr/lib/systemd/system").glob("*.timer")
    persistent = [path.name for path in timers if "\nPersistent=yes\n" in path.read_text()]
    assert "interlude-pull.timer" in persistent
    assert "var/lib/systemd/timers" in KEPT


def bound(tmp_path: Path) -> dict[str, Path]:
    """What init binds, place → folder of `data`, by its own lines, with trees of a test's."""
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
def test_a_card_that_is_older_than_a_folder_gets_it_and_one_that_has_it_keeps_what_is_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "sysroot/data/var/lib/systemd/timesync").mkdir(parents=True)
    (tmp_path / "lower/etc/interlude").mkdir(parents=True, mode=0o750)
    (tmp_path / "lower/etc/interlude/settings.yaml").write_text("of the slot")
    first = bound(tmp_path)
    assert set(first) == {f"/{path}" for path in KEPT}
    timers = first["/var/lib/systemd/timers"]
    assert stat.S_IMODE(timers.stat().st_mode) == 0o755  # root's: systemd writes there itself
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
def test_a_folder_that_was_half_copied_when_the_power_went_is_copied_anew(tmp_path: Path) -> None:
    (tmp_path / "sysroot/data/etc/interlude.new").mkdir(parents=True)
    (tmp_path / "sysroot/data/etc/interlude.new/half").touch()
    (tmp_path / "lower/etc/interlude").mkdir(parents=True)
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / "lower/etc/interlude" / name).touch()
    folder = bound(tmp_path)["/etc/interlude"]
    assert {path.name for path in folder.iterdir()} == {"a.yaml", "b.yaml"}
    assert not folder.with_name("interlude.new").exists()
