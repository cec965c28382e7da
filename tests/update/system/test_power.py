"""An update of the system that is cut short anywhere leaves a card that starts the old or the new.

Two ways: the process is killed after each of its changes, or the power goes, so that of what was
written since the last flush any part may be missing, in any order.
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
    """Ends its process, as SIGKILL does, after so many changes. Counts them."""

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
        """The machine goes on: there is nothing to wait for."""
        self._done()

    def _done(self) -> None:
        self._mortal.change()


def killed(at: Bench, act: Callable[[SlotStateFile], object], after: int) -> bool:
    """Do it in a child that dies after so many changes. Whether it died of that."""
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
    """What puts card and slot_state back to how they were."""
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


def test_killed_after_any_change_the_old_system_starts_and_the_next_try_succeeds(
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
            with contextlib.suppress(NoStart):  # a trial that nobody asked for: half, or whole
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


def test_killed_after_any_change_of_a_commit_old_or_new_starts(at: Bench, tmp_path: Path) -> None:
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
    """What of the first `cut` writes reached the card: all that was flushed, of the rest any
    blocks."""
    safe: list[Written] = []
    waiting: list[Written] = []
    for note in notes[:cut]:
        if note.data is None:
            safe += [one for one in waiting if one.part == note.part]
            waiting = [one for one in waiting if one.part != note.part]
        else:
            waiting.append(note)
    for note in waiting:
        assert note.data is not None
        step = SECTOR if len(note.data) < 8 * SECTOR else 8 * SECTOR
        for at in range(0, len(note.data), step):
            if chance.random() < 0.5:
                safe.append(Written(note.part, note.at + at, note.data[at : at + step]))
    return safe


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_of_the_unflushed_writes_is_lost_old_or_new_starts(
    at: Bench, tmp_path: Path, seed: int
) -> None:
    """No flush is missing: a commit that overtakes what it commits would be found here."""
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
            whole = at.card.place("system_b").read_bytes()
            if started[-1] == "0.2.0":
                assert whole[: len(whole) // 2] == at.foundry.make("0.2.0").system.read_bytes()
    assert set(started) == {"0.1.0", "0.2.0"}
    assert started == sorted(started)


def test_a_card_that_dies_while_it_is_written_is_a_sentence(at: Bench) -> None:
    def dies() -> None:
        raise OSError(5, "Input/output error")

    at.card.changed = dies
    with pytest.raises(InterludeError, match="Input/output error"):
        at.updater().install(at.archive("0.2.0"))
    at.card.changed = lambda: None
    assert at.version_that_starts() == "0.1.0"
