"""Scenes on a failing card, and what must hold whichever call failed. Run by badcard.py."""

from __future__ import annotations

import json
import logging
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from appliance.cli import enrol
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.dialog.memory_writer import (
    ForgetResult,
    MemoryHealth,
    MemoryNews,
    MemoryWriter,
    TurnsRecalled,
)
from appliance.errors import InterludeError, StorageError
from appliance.hear.bargein import adaptation
from appliance.hear.bargein.adaptation import CLASSES, EMBEDDING, Adaptation
from appliance.hear.bargein.enrolment import EnrolmentRecording
from appliance.language.catalogue import english
from appliance.messages.commands import Restart, Say
from appliance.messages.registry import Message
from appliance.panel.power_on_hold import PowerOnHold
from appliance.provision.apply_seed import ProvisionTarget, apply
from appliance.runtime import factory_reset as reset
from appliance.update.release.store import ReleaseStore
from tests.badcard import Card, Fault
from tests.provision.seeds import WHOLE, tree
from tests.update.release.workshop import Bench, PaperBox, Workshop

PATIENCE_S = 60.0
AT_ONCE_S = 0.5  # the conductor must not block longer on the card
TURNS = 12


def turn(number: int, word: str) -> RememberedTurn:
    return RememberedTurn(
        f"2026-01-01T10:00:{number:02}", number, "", 1.5, word * 9, True, "pocket"
    )


class SeenNews(list[MemoryNews]):
    """All news so far; the first `checked` were compared with the kind that is waited for."""

    checked = 0


def wait_for(writer: MemoryWriter, kind: type[MemoryNews], seen: SeenNews) -> MemoryNews:
    """Wait for the next news of that kind; all news that arrives is added to `seen`."""
    by_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < by_s:
        seen += writer.pop_news()
        while seen.checked < len(seen):
            seen.checked += 1
            if isinstance(item := seen[seen.checked - 1], kind):
                return item
        time.sleep(0.001)
    raise AssertionError(f"no {kind.__name__} arrived, only {seen}")


def without_blocking(act: Callable[[], object]) -> None:
    began_s = time.monotonic()
    act()
    assert time.monotonic() - began_s < AT_ONCE_S, "the conductor blocks on the card"


# ── remember ─────────────────────────────────────────────────────────────────────────────────
def remember(card: Card, folder: Path) -> bool:
    """A lost turn is reported; earlier turns stay, and the writer keeps working."""
    writer, seen = MemoryWriter(folder / "memory.db", 50), SeenNews()
    for number in range(3):
        writer.remember(turn(number, "word "))
    writer.recall(50)
    assert wait_for(writer, TurnsRecalled, seen) == TurnsRecalled(
        tuple(turn(n, "word ") for n in range(3))
    )
    card.arm()
    for number in range(3, 6):
        without_blocking(partial(writer.remember, turn(number, "word ")))
    writer.recall(50)
    with suppress(AssertionError):
        idle(writer, seen)
    hit = card.disarm()
    writer.remember(turn(6, "word "))
    writer.recall(50)
    numbers: list[int] = []
    while numbers[-1:] != [6]:
        recalled = wait_for(writer, TurnsRecalled, seen)
        assert isinstance(recalled, TurnsRecalled)
        numbers = [recalled_turn.turn for recalled_turn in recalled.turns]
    assert numbers[:3] == [0, 1, 2]
    assert numbers == sorted(numbers)
    lost = {3, 4, 5} - set(numbers)
    failures = [item for item in seen if isinstance(item, MemoryHealth) and not item.well]
    assert bool(failures) or not lost, "a turn was lost without a report"
    writer.close()
    return hit


def idle(writer: MemoryWriter, seen: SeenNews) -> None:
    """Wait until the writer has executed its queue."""
    by_s = time.monotonic() + PATIENCE_S
    while not writer._orders.empty() and time.monotonic() < by_s:
        seen += writer.pop_news()
        time.sleep(0.001)
    time.sleep(0.02)
    seen += writer.pop_news()


# ── forget ───────────────────────────────────────────────────────────────────────────────────
def forget_all(card: Card, folder: Path) -> bool:
    return _forget(card, folder, last=False)


def forget_last(card: Card, folder: Path) -> bool:
    return _forget(card, folder, last=True)


def _forget(card: Card, folder: Path, *, last: bool) -> bool:
    """Success is reported only once no word is left on the raw card, at once or later."""
    canary, other = f"canary{card.number:05}x", f"other{card.number:05}x"
    writer, seen = MemoryWriter(folder / "memory.db", 50), SeenNews()
    for number in range(TURNS):
        writer.remember(turn(number, other if last and number < TURNS - 1 else canary))
    writer.recall(1)
    wait_for(writer, TurnsRecalled, seen)
    card.arm()
    without_blocking(lambda: writer.forget(last=last))
    result = wait_for(writer, ForgetResult, seen)
    assert isinstance(result, ForgetResult)
    hit = card.disarm()
    if not result.problem:
        assert card.count(canary.encode()) == 0, "reported, but still on the card"
    else:
        assert hit, result
        writer.recall(50)
        second_result = wait_for(writer, ForgetResult, seen)
        assert isinstance(second_result, ForgetResult)
        assert second_result.late, second_result
        assert not second_result.problem, second_result
        assert card.count(canary.encode()) == 0, "reported later, but still on the card"
        wait_for(writer, TurnsRecalled, seen)
    writer.remember(turn(99, "new "))
    writer.recall(50)
    recalled = wait_for(writer, TurnsRecalled, seen)
    assert isinstance(recalled, TurnsRecalled)
    numbers = [recalled_turn.turn for recalled_turn in recalled.turns]
    assert numbers[-1] == 99, "the conversation goes on"
    if not last:
        assert numbers == [99]
    elif card.lasting_error != "ENOSPC":  # a full card may have no room for the older turns
        assert numbers == [*range(TURNS - 1), 99], numbers
    writer.close()
    return hit


# ── reset ────────────────────────────────────────────────────────────────────────────────────
def factory_reset(card: Card, folder: Path) -> bool:
    """The spoken result is true; after a failure the next start or attempt completes the reset."""
    canary = f"canary{card.number:05}x"
    _fill_state(folder, canary)
    card.arm()
    result = _hold(folder)
    reset.complete_reset(folder)
    hit = card.disarm()
    spoken = result.text if isinstance(result, Say) else reset.to_say(folder)
    gone = card.count(canary.encode()) == 0
    if spoken == "reset-done":
        assert gone, "reported, but still on the card"
    elif not reset.unfinished(folder):
        assert hit
        if spoken == english().say("reset-failed") or not gone:
            assert isinstance(_hold(folder), Restart)  # the owner repeats the reset
    reset.complete_reset(folder)  # the next start
    assert card.count(canary.encode()) == 0
    assert not any((folder / name).exists() for row in reset.RESET for name in row.paths)
    return hit


def _fill_state(folder: Path, canary: str) -> None:
    memory = Memory(folder / "memory" / "memory.db", 50)
    for number in range(TURNS):
        memory.remember(turn(number, canary))
    memory.close()
    for name in ("timers/timers.json", "enrolled/stop/a.wav", "listener/echo.npz"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(canary.encode() * 500)


def _hold(folder: Path) -> Message:
    hold = PowerOnHold(folder, logging.getLogger("panel"), folder / "no-incoming")
    hold.start("reset")
    return hold.messages.get(timeout=PATIENCE_S)


# ── enrol ────────────────────────────────────────────────────────────────────────────────────
def enrolment(card: Card, folder: Path) -> bool:
    """After an error the adaptation is the old or the new one, complete; the next attempt works."""
    adaptations = [
        Adaptation(
            np.full((CLASSES, EMBEDDING), value, np.float32),
            np.zeros(CLASSES, np.float32),
            "net",
        )
        for value in (1.0, 2.0)
    ]
    takes = [
        EnrolmentRecording(f"stop {n}", "interruption", np.arange(900, dtype=np.int16))
        for n in range(2)
    ]

    def enrol_as(which: int) -> None:
        adaptation.save(adaptations[which], folder)
        enrol.keep_recordings(takes, folder)

    enrol_as(0)
    card.arm()
    try:
        enrol_as(1)
    except StorageError:
        failed = True
    else:
        failed = False
    hit = card.disarm()
    assert hit or not failed
    found = adaptation.load(folder, "net")
    assert found is not None
    assert found.weight[0, 0] in ((1.0, 2.0) if failed else (2.0,))
    enrol_as(1)
    found = adaptation.load(folder, "net")
    assert found is not None
    assert found.weight[0, 0] == 2.0
    strange = [p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".npz", ".wav")]
    assert strange == []
    return hit


# ── update ───────────────────────────────────────────────────────────────────────────────────
_workshops: dict[Path, Workshop] = {}  # created once, outside the failing folder


def update(card: Card, folder: Path) -> bool:
    """The old or the new release starts, complete; the next attempt installs the new one."""
    outside = folder.parent / "workshop"
    if outside not in _workshops:
        outside.mkdir()
        _workshops[outside] = Workshop(outside)
    store = ReleaseStore(folder / "opt", folder / "run")
    at = Bench(_workshops[outside], store, PaperBox(store))
    old, new = (at.shop.make(version, files=1) for version in ("0.1.0", "0.2.0"))
    at.installer().install(old)
    card.arm()
    try:
        at.installer().install(new)
    except (InterludeError, OSError) as error:
        failed = str(error)
        assert failed
    else:
        failed = ""
    hit = card.disarm()
    assert hit or not failed
    _starts_whole(at, ("0.1.0", "0.2.0") if failed else ("0.2.0",))
    at.installer().install(new)
    _starts_whole(at, ("0.2.0",))
    left = [path.name for path in at.store.releases.iterdir() if path.name.startswith(".")]
    assert left == []
    return hit


def _starts_whole(at: Bench, versions: tuple[str, ...]) -> None:
    started = at.store.on_trial() or at.store.kept()
    assert started in versions, started
    folder = at.store.folder(started)
    assert (folder / "bin/interlude").read_text() == f"#!/bin/sh\necho {started} good\n"
    assert (folder / "lib/module_0.py").read_text() == f"VERSION = '{started}'\n" * 50


# ── seed ─────────────────────────────────────────────────────────────────────────────────────
def seed(card: Card, folder: Path) -> bool:
    """Each file is the old or the new one, complete; the next start applies the whole seed."""
    target = ProvisionTarget(folder / "root", folder / "keep")
    (target.root / "etc/interlude").mkdir(parents=True)
    (target.root / "etc/interlude/settings.yaml").write_text("mode: open\n")
    zone = target.root / "usr/share/zoneinfo/Europe/Berlin"
    zone.parent.mkdir(parents=True)
    zone.touch()
    target.keep.mkdir()
    before = tree(folder)
    card.arm()
    try:
        apply(WHOLE, target)
    except InterludeError as error:
        failed = str(error)
        assert failed
    else:
        failed = ""
    hit = card.disarm()
    assert hit or not failed
    middle = tree(folder)
    apply(WHOLE, target)
    after = tree(folder)
    for name, file in middle.items():
        if not Path(name).name.startswith("."):
            assert file in (before.get(name), after.get(name)), name
    assert not failed or middle != after or hit
    assert [name for name in after if Path(name).name.startswith(".") and ".ssh" not in name] == []
    return hit


def false_report(card: Card, folder: Path) -> bool:
    """For the test of these scenes: a deletion that is reported but was not done."""
    (folder / "memory.db").write_bytes(b"canary")
    assert card.count(b"canary") == 0, "reported, but still on the card"
    return False


SCENES: dict[str, Callable[[Card, Path], bool]] = {
    scene.__name__: scene
    for scene in (
        remember,
        forget_all,
        forget_last,
        factory_reset,
        enrolment,
        update,
        seed,
        false_report,
    )
}


def main() -> None:
    name, error, lasts, stall, folder, image, every, first, only = sys.argv[1:]
    logging.disable()
    fault = Fault(error, lasts == "1", float(stall))
    hits = 0
    number = int(first)
    while True:
        scene_folder = Path(folder) / "scene"
        scene_folder.mkdir()
        card = Card(fault, scene_folder, Path(image) if image else None)
        card.number = number
        try:
            hit = SCENES[name](card, scene_folder)
        except BaseException:
            sys.stderr.write(f"at call {number}\n")
            raise
        shutil.rmtree(scene_folder)
        hits += hit
        number += int(every)
        if not hit or hits == int(only):
            break
    sys.stdout.write(json.dumps(hits) + "\n")


if __name__ == "__main__":
    main()
