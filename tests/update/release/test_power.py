"""An installation that is killed between any two changes leaves a box that starts a complete
release.

The installer runs in a process of its own and is killed with SIGKILL. Then either a power cut is
simulated, which loses what was in memory, or only the installer is gone.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed
from appliance.update.release import rejected, security_record
from appliance.update.release.disk_changes import Disk
from appliance.update.release.store import ReleaseStore
from tests.update.release.workshop import Bench, MortalDisk, PaperBox

pytestmark = pytest.mark.process


def killed(at: Bench, file: Path | None, after: int) -> bool:
    """Install in a child process that dies after `after` changes, or roll back if there is no file.
    Return whether it died of that."""
    child = os.fork()
    if child == 0:
        try:
            installer = at.installer(MortalDisk(after))
            installer.rollback() if file is None else installer.install(file)
        except HealthCheckFailed:
            os._exit(3)
        except BaseException:  # noqa: BLE001  # nothing of the child may reach pytest
            os._exit(4)
        os._exit(0)
    _, ended = os.waitpid(child, 0)
    assert os.WIFSIGNALED(ended) or os.WEXITSTATUS(ended) in (0, 3)
    return os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL


def starts(at: Bench) -> str:
    """The output of a start now, with the script that starts the box."""
    script = Path(__file__).parents[3] / "system/usr/lib/interlude/start"
    places = {
        "INTERLUDE_TRIAL": str(at.store.trial_link),
        "INTERLUDE_KEPT": str(at.store.root / "current"),
    }
    done = subprocess.run(
        [script], env={**os.environ, **places}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[0]


def whole(at: Bench, version: str) -> bool:
    """Whether every file of the release is installed, byte for byte."""
    tree = at.shop.folder / f"tree-{version}-good"
    there = at.store.folder(version)
    files = [path for path in tree.rglob("*") if path.is_file()]
    return all((there / path.relative_to(tree)).read_bytes() == path.read_bytes() for path in files)


def changes_of(at: Bench, file: Path) -> int:
    """The number of changes of a complete installation, counted on a copy of the box."""
    copy = at.store.root.parent / "copy"
    shutil.copytree(at.store.root, copy / "opt", symlinks=True)
    disk = MortalDisk()
    twin = ReleaseStore(copy / "opt", copy / "run")
    Bench(at.shop, twin, PaperBox(twin, runs=at.box.runs)).installer(disk).install(file)
    shutil.rmtree(copy)
    return disk.changes


@pytest.mark.parametrize("power", [False, True], ids=["installer killed", "power cut"])
def test_after_a_kill_at_any_change_the_box_starts_the_old_or_the_new_release(
    at: Bench, power: bool
) -> None:
    for version in ("0.1.0", "0.2.0", "0.3.0"):
        at.installer().install(at.shop.make(version))
    file = at.shop.make("0.4.0", files=1)
    total = changes_of(at, file)
    assert total > 15
    before = at.store.root.parent / "before"
    shutil.copytree(at.store.root, before, symlinks=True)
    seen = []
    for after in range(1, total + 1):
        shutil.rmtree(at.store.root)
        shutil.rmtree(at.store.trial_folder, ignore_errors=True)
        shutil.copytree(before, at.store.root, symlinks=True)
        at.box.runs = "0.3.0"
        assert killed(at, file, after), after
        if power:
            shutil.rmtree(at.store.trial_folder, ignore_errors=True)
        started = starts(at)
        assert started in ("0.3.0", "0.4.0")
        assert whole(at, started), after
        seen.append(started)
        if power and after % 4:  # after a power cut each further installation is the same
            continue
        at.installer().install(file)
        assert (at.store.kept(), at.store.on_trial()) == ("0.4.0", None)
        assert whole(at, "0.4.0")
        left = [path.name for path in at.store.releases.iterdir() if path.name.startswith(".")]
        assert left == []
    assert {"0.3.0", "0.4.0"} == set(seen)


def test_an_unhealthy_release_killed_during_its_trial_does_not_survive_a_power_cut(
    at: Bench,
) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    failing = at.shop.make("0.2.0", "crashes")
    outcomes = set()
    for after in range(1, 60):
        if not killed(at, failing, after):
            break
        shutil.rmtree(at.store.trial_folder, ignore_errors=True)
        outcomes.add(starts(at))
        assert at.store.kept() == "0.1.0"
    assert outcomes == {"0.1.0"}


def cuts(at: Bench, file: Path | None, runs: str) -> Iterator[None]:
    """Yields after a power cut at each of its steps in turn: the installation of `file`, or with
    None a return, both begun anew from the present state, in which release `runs` runs."""
    before = at.store.root.parent / "before"
    shutil.copytree(at.store.root, before, symlinks=True)
    for after in range(1, 60):
        shutil.rmtree(at.store.root)
        shutil.copytree(before, at.store.root, symlinks=True)
        at.box.runs = runs
        if not killed(at, file, after):
            break
        shutil.rmtree(at.store.trial_folder, ignore_errors=True)
        yield


def test_an_interrupted_rollback_is_noted_whenever_the_older_release_is_kept(at: Bench) -> None:
    for version in ("0.1.0", "0.2.0"):
        at.installer().install(at.shop.make(version))
    seen = set()
    for _ in cuts(at, None, "0.2.0"):
        noted = rejected.find(at.store.root, "0.2.0") is not None
        seen.add((at.store.kept(), noted))
    assert seen == {("0.2.0", False), ("0.2.0", True), ("0.1.0", True)}


def test_the_floor_is_on_the_disk_whenever_the_release_that_sets_it_is_kept(at: Bench) -> None:
    """The fallback knows it only from there (system/usr/lib/interlude/startable.py)."""
    at.installer().install(at.shop.make("0.1.0"))
    file = at.shop.make("0.2.0", files=1, policy={"security": True})
    seen = set()
    for _ in cuts(at, file, "0.1.0"):
        seen.add((at.store.kept(), security_record.read(at.store.root).least_version))
    assert seen == {("0.1.0", ""), ("0.1.0", "0.2.0"), ("0.2.0", "0.2.0")}


class RecordingDisk(Disk):
    """Records the order of the writes, renames and syncs."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def sync(self, folder: Path) -> None:
        super().sync(folder)
        self.events.append("settled")

    def write(self, path: Path, data: bytes, mode: int = 0o644) -> None:
        super().write(path, data, mode)
        self.events.append("manifest" if path.name == "release.json" else "file")

    def rename(self, path: Path, to: Path) -> None:
        super().rename(path, to)
        self.events.append(f"{to.name} is there")


def test_all_files_are_synced_before_the_manifest_and_the_manifest_before_the_rename(
    at: Bench,
) -> None:
    disk = RecordingDisk()
    at.installer(disk).install(at.shop.make("0.1.0"))
    events = disk.events
    last_file = max(i for i, what in enumerate(events) if what == "file")
    assert events[last_file + 1 :] == [
        "settled",
        "manifest",
        "settled",
        "0.1.0 is there",
        "trial is there",
        "current is there",
    ]
