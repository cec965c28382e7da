"""A system update that is interrupted anywhere leaves a card that starts the old or the new system.

There are two kinds of interruption. The process is killed after each of its changes, or the power
fails, so that any part of what was written since the last flush may be missing, in any order.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.errors import InterludeError
from appliance.update.release.disk_changes import Disk
from appliance.update.release.installer import InstallOptions
from appliance.update.system.slot_state import SlotStateFile
from image.firmware import TRYBOOT, NoStart
from tests.update.system.workshop import Bench, Written, copy_sparse

pytestmark = pytest.mark.process

SECTOR = 512
PARTS = ("bootconfig", "boot_a", "boot_b", "system_a", "system_b")


class Mortal:
    """Kills its process with SIGKILL after `dies_after` changes, and counts the changes."""

    def __init__(self, dies_after: int = 1 << 30) -> None:
        self.changes, self._dies_after = 0, dies_after

    def change(self) -> None:
        self.changes += 1
        if self.changes >= self._dies_after:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalDisk(Disk):
    def __init__(self, mortal: Mortal) -> None:
        self._mortal = mortal

    def sync(self, folder: Path) -> None:
        """Does not sync: the kernel survives the death of the process."""
        self._done()

    def _done(self) -> None:
        self._mortal.change()


def killed(at: Bench, act: Callable[[SlotStateFile], object], after: int) -> bool:
    """Call `act` in a child process that dies after `after` changes. Return whether it died of
    that."""
    child = os.fork()
    if child == 0:
        mortal = Mortal(after)
        at.card.changed = mortal.change
        try:
            act(SlotStateFile(at.slot_state.folder, MortalDisk(mortal)))
        except BaseException:  # noqa: BLE001  # nothing of the child may reach pytest
            os._exit(4)
        os._exit(0)
    _, ended = os.waitpid(child, 0)
    assert os.WIFSIGNALED(ended) or os.WEXITSTATUS(ended) == 0
    return os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL


@contextlib.contextmanager
def as_before(at: Bench, keep: Path) -> Iterator[Callable[[], None]]:
    """Return a function that restores the card and the slot state."""
    keep.mkdir()
    for name in PARTS:
        copy_sparse(at.card.place(name), keep / name)
    files = {path.name: path.read_bytes() for path in at.slot_state.folder.glob("*.json")}

    def restore() -> None:
        for name in PARTS:
            copy_sparse(keep / name, at.card.place(name))
        at.slot_state.folder.mkdir(exist_ok=True)
        for path in at.slot_state.folder.iterdir():
            path.unlink()
        for name, data in files.items():
            (at.slot_state.folder / name).write_bytes(data)
        at.card.notes.clear()
        at.machine.power()

    yield restore


def test_after_a_kill_at_any_change_the_old_system_starts_and_the_next_try_succeeds(
    at: Bench, tmp_path: Path
) -> None:
    archive = at.archive("0.2.0")
    seen = set()
    with as_before(at, tmp_path / "keep") as restore:
        after = 1
        while killed(
            at,
            lambda slot_state: at.updater(slot_state).install(archive, InstallOptions(start=False)),
            after,
        ):
            assert at.version_that_starts() == "0.1.0"
            with contextlib.suppress(NoStart):  # an unrequested trial
                at.machine.power(TRYBOOT)
                seen.add((at.machine.said, at.slot_state.content("b") is not None))
            if after % 3 == 0:
                at.machine.power()
                at.updater().settle_trial()
                assert at.updater().install(archive)
                at.machine.power(TRYBOOT)
                at.updater().settle_trial()
                assert at.version_that_starts() == "0.2.0"
            restore()
            after += 1
    assert after > 12
    assert seen == {("0.2.0", False), ("0.2.0", True)}


def test_after_a_kill_at_any_change_of_a_commit_the_old_or_the_new_system_starts(
    at: Bench, tmp_path: Path
) -> None:
    at.updater().install(at.archive("0.2.0"))
    started = []
    with as_before(at, tmp_path / "keep") as restore:
        after = 1
        at.machine.power(TRYBOOT)
        while killed(at, lambda slot_state: at.updater(slot_state).settle_trial(), after):
            started.append(at.version_that_starts())
            at.updater().settle_trial()
            assert at.slot_state.trial() is None
            assert at.version_that_starts() == started[-1]
            restore()
            at.machine.power(TRYBOOT)
            after += 1
    assert started[0] == "0.1.0"
    assert started[-1] == "0.2.0"
    assert started == sorted(started)


def survivors(notes: list[Written], cut: int, chance: random.Random) -> list[Written]:
    """The part of the first `cut` writes that reached the card: everything that was flushed, and a
    random half of the other blocks."""
    written: list[Written] = []
    unflushed: list[Written] = []
    for note in notes[:cut]:
        if note.data is None:
            written += [write for write in unflushed if write.part == note.part]
            unflushed = [write for write in unflushed if write.part != note.part]
        else:
            unflushed.append(note)
    for note in unflushed:
        assert note.data is not None
        step = SECTOR if len(note.data) < 8 * SECTOR else 8 * SECTOR
        for at in range(0, len(note.data), step):
            if chance.random() < 0.5:
                written.append(Written(note.part, note.at + at, note.data[at : at + step]))
    return written


@pytest.mark.parametrize("seed", [1, 2])
def test_after_the_loss_of_any_unflushed_writes_the_old_or_the_new_system_starts(
    at: Bench, tmp_path: Path, seed: int
) -> None:
    """A commit that is written before the data that it commits is flushed fails this test."""
    chance = random.Random(seed)
    archive = at.archive("0.2.0")
    with as_before(at, tmp_path / "keep") as restore:
        at.updater().install(archive)
        trial = at.slot_state.trial()
        at.machine.power(TRYBOOT)
        at.updater().settle_trial()
        notes = list(at.card.notes)
        assert trial is not None
        flushes = sum(note.data is None for note in notes)
        assert flushes >= 6
        started = []
        for cut in range(len(notes) + 1):
            restore()
            for note in survivors(notes, cut, chance):
                assert note.data is not None
                at.card.poke(note.part, note.at, note.data)
            started.append(at.version_that_starts())
            written = at.card.place("system_b").read_bytes()
            if started[-1] == "0.2.0":
                assert written[: len(written) // 2] == at.foundry.make("0.2.0").system.read_bytes()
    assert set(started) == {"0.1.0", "0.2.0"}
    assert started == sorted(started)


def test_an_io_error_of_the_card_is_reported(at: Bench) -> None:
    def dies() -> None:
        raise OSError(5, "Input/output error")

    at.card.changed = dies
    with pytest.raises(InterludeError, match="Input/output error"):
        at.updater().install(at.archive("0.2.0"))
    at.card.changed = lambda: None
    assert at.version_that_starts() == "0.1.0"
