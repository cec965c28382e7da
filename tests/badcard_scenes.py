"""What is done on a bad card, and what must be true whichever call failed. Run by badcard.py."""

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
AT_ONCE_S = 0.5  # longer than this the conductor must never wait for the card
TURNS = 12


def turn(number: int, word: str) -> RememberedTurn:
    return RememberedTurn(
        f"2026-01-01T10:00:{number:02}", number, "", 1.5, word * 9, True, "pocket"
    )


class Seen(list[MemoryNews]):
    """All news so far; `looked_at` of them."""

    looked_at = 0


def told(scribe: MemoryWriter, kind: type[MemoryNews], seen: Seen) -> MemoryNews:
    """The next news of that kind, waited for; all that came is added to `seen`."""
    by_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < by_s:
        seen += scribe.pop_news()
        while seen.looked_at < len(seen):
            seen.looked_at += 1
            if isinstance(item := seen[seen.looked_at - 1], kind):
                return item
        time.sleep(0.001)
    raise AssertionError(f"no {kind.__name__} came, only {seen}")


def at_once(act: Callable[[], object]) -> None:
    began_s = time.monotonic()
    act()
    assert time.monotonic() - began_s < AT_ONCE_S, "the conductor waits for the card"


# ── remember ─────────────────────────────────────────────────────────────────────────────────
def remember(card: Card, folder: Path) -> bool:
    """A turn may be lost, and that is told; never the box, never the turns before."""
    scribe, seen = MemoryWriter(folder / "memory.db", 50), Seen()
    for number in range(3):
        scribe.remember(turn(number, "word "))
    scribe.recall(50)
    assert told(scribe, TurnsRecalled, seen) == TurnsRecalled(
        tuple(turn(n, "word ") for n in range(3))
    )
    card.arm()
    for number in range(3, 6):
        at_once(partial(scribe.remember, turn(number, "word ")))
    scribe.recall(50)
    with suppress(AssertionError):
        idle(scribe, seen)
    hit = card.disarm()
    scribe.remember(turn(6, "word "))
    scribe.recall(50)
    numbers: list[int] = []
    while numbers[-1:] != [6]:
        recalled = told(scribe, TurnsRecalled, seen)
        assert isinstance(recalled, TurnsRecalled)
        numbers = [each.turn for each in recalled.turns]
    assert numbers[:3] == [0, 1, 2]
    assert numbers == sorted(numbers)
    lost = {3, 4, 5} - set(numbers)
    unwell = [item for item in seen if isinstance(item, MemoryHealth) and not item.well]
    assert bool(unwell) or not lost, "what is not remembered is told"
    scribe.close()
    return hit


def idle(scribe: MemoryWriter, seen: Seen) -> None:
    """It has carried out all that it was told: an order to forget beyond the queue would be."""
    by_s = time.monotonic() + PATIENCE_S
    while not scribe._orders.empty() and time.monotonic() < by_s:
        seen += scribe.pop_news()
        time.sleep(0.001)
    time.sleep(0.02)
    seen += scribe.pop_news()


# ── forget ───────────────────────────────────────────────────────────────────────────────────
def forget_all(card: Card, folder: Path) -> bool:
    return _forget(card, folder, last=False)


def forget_last(card: Card, folder: Path) -> bool:
    return _forget(card, folder, last=True)


def _forget(card: Card, folder: Path, *, last: bool) -> bool:
    """ "Forgotten" is told only if no word is on the raw card; else it is told later, and is so."""
    canary, other = f"canary{card.number:05}x", f"other{card.number:05}x"
    scribe, seen = MemoryWriter(folder / "memory.db", 50), Seen()
    for number in range(TURNS):
        scribe.remember(turn(number, other if last and number < TURNS - 1 else canary))
    scribe.recall(1)
    told(scribe, TurnsRecalled, seen)
    card.arm()
    at_once(lambda: scribe.forget(last=last))
    answer = told(scribe, ForgetResult, seen)
    assert isinstance(answer, ForgetResult)
    hit = card.disarm()
    if not answer.problem:
        assert card.count(canary.encode()) == 0, "it is said and not so"
    else:
        assert hit, answer
        scribe.recall(50)
        late = told(scribe, ForgetResult, seen)
        assert isinstance(late, ForgetResult)
        assert late.late, late
        assert not late.problem, late
        assert card.count(canary.encode()) == 0, "it is said late and not so"
        told(scribe, TurnsRecalled, seen)
    scribe.remember(turn(99, "new "))
    scribe.recall(50)
    recalled = told(scribe, TurnsRecalled, seen)
    assert isinstance(recalled, TurnsRecalled)
    numbers = [each.turn for each in recalled.turns]
    assert numbers[-1] == 99, "the box talks on"
    if not last:
        assert numbers == [99]
    elif card.lasting_error != "ENOSPC":  # a card that has no room for them any more
        assert numbers == [*range(TURNS - 1), 99], numbers
    scribe.close()
    return hit


# ── reset ────────────────────────────────────────────────────────────────────────────────────
def factory_reset(card: Card, folder: Path) -> bool:
    """What is said of it is so, and whatever failed, the next start or the next try ends it."""
    canary = f"canary{card.number:05}x"
    _lived_in(folder, canary)
    card.arm()
    answer = _hold(folder)
    reset.complete_reset(folder)
    hit = card.disarm()
    said = answer.text if isinstance(answer, Say) else reset.to_say(folder)
    gone = card.count(canary.encode()) == 0
    if said == "reset-done":
        assert gone, "it is said and not so"
    elif not reset.unfinished(folder):
        assert hit
        if said == english().say("reset-failed") or not gone:
            assert isinstance(_hold(folder), Restart)  # the owner tries again
    reset.complete_reset(folder)  # the next start
    assert card.count(canary.encode()) == 0
    assert not any((folder / name).exists() for row in reset.RESET for name in row.paths)
    return hit


def _lived_in(folder: Path, canary: str) -> None:
    memory = Memory(folder / "memory" / "memory.db", 50)
    for number in range(TURNS):
        memory.remember(turn(number, canary))
    memory.close()
    for name in ("timers/timers.json", "enrolled/stop/a.wav", "echo.npz", "verdict-owner.npz"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(canary.encode() * 500)


def _hold(folder: Path) -> Message:
    held = PowerOnHold(folder, logging.getLogger("panel"), folder / "no-incoming")
    held.start("reset")
    return held.messages.get(timeout=PATIENCE_S)


# ── enrol ────────────────────────────────────────────────────────────────────────────────────
def enrolment(card: Card, folder: Path) -> bool:
    """The correction is the old one or the new one, whole; a clear error; then it can be done."""
    made = [
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
        adaptation.save(made[which], folder)
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
_workshops: dict[Path, Workshop] = {}  # made once, outside of what fails


def update(card: Card, folder: Path) -> bool:
    """The box starts the old release or the new one, whole; the next try installs it."""
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
    there = at.store.folder(started)
    assert (there / "bin/interlude").read_text() == f"#!/bin/sh\necho {started} good\n"
    assert (there / "lib/module_0.py").read_text() == f"VERSION = '{started}'\n" * 50


# ── seed ─────────────────────────────────────────────────────────────────────────────────────
def seed(card: Card, folder: Path) -> bool:
    """Each file is as it was or as the seed wants it, whole; the next start does all of it."""
    ground = ProvisionTarget(folder / "root", folder / "keep")
    (ground.root / "etc/interlude").mkdir(parents=True)
    (ground.root / "etc/interlude/settings.yaml").write_text("mode: open\n")
    zone = ground.root / "usr/share/zoneinfo/Europe/Berlin"
    zone.parent.mkdir(parents=True)
    zone.touch()
    ground.keep.mkdir()
    before = tree(folder)
    card.arm()
    try:
        apply(WHOLE, ground)
    except InterludeError as error:
        failed = str(error)
        assert failed
    else:
        failed = ""
    hit = card.disarm()
    assert hit or not failed
    middle = tree(folder)
    apply(WHOLE, ground)
    after = tree(folder)
    for name, file in middle.items():
        if not Path(name).name.startswith("."):
            assert file in (before.get(name), after.get(name)), name
    assert not failed or middle != after or hit
    assert [name for name in after if Path(name).name.startswith(".") and ".ssh" not in name] == []
    return hit


def says_what_is_not_so(card: Card, folder: Path) -> bool:
    """For the test of these scenes: "forgotten" without a deed."""
    (folder / "memory.db").write_bytes(b"canary")
    assert card.count(b"canary") == 0, "it is said and not so"
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
        says_what_is_not_so,
    )
}


def main() -> None:
    name, error, lasts, stall, folder, image, every, first, only = sys.argv[1:]
    logging.disable()
    fault = Fault(error, lasts == "1", float(stall))
    hits = 0
    number = int(first)
    while True:
        here = Path(folder) / "scene"
        here.mkdir()
        card = Card(fault, here, Path(image) if image else None)
        card.number = number
        try:
            hit = SCENES[name](card, here)
        except BaseException:
            sys.stderr.write(f"at call {number}\n")
            raise
        shutil.rmtree(here)
        hits += hit
        number += int(every)
        if not hit or hits == int(only):
            break
    sys.stdout.write(json.dumps(hits) + "\n")


if __name__ == "__main__":
    main()
