"""Restarts or harms the service again and again, and checks each time that the box recovers.

Out: a `Life` for each time, with the seconds until the box heard again.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from appliance.runtime import process_table
from image.test import harm
from image.test.harm import HARMS
from image.test.kitchen import STATE, Kitchen
from image.test.ways import FORGETS, QUIET, WAYS

HEARS_S = 5.0  # limit until the box hears again after a part or all parts have ended
ORPHANS_S = 2.0  # limit for parts that outlive their supervisor
WATCHDOG_S = 30.0  # of the unit
MUTED = 0.3  # share of lives before which the box is muted
DENIED = ("Permission denied", "Read-only file system", "Operation not permitted",
          "cannot be written")  # fmt: skip
ALLOWED = "runs without: "  # a container has no real-time priorities
# The supervisor's log line for a part that it starts again after a back-off
# (runtime/supervision/backoff.py).
PAUSE = re.compile(r"\b(\w+) .*; starting it again in ([\d.]+) s")


@dataclass(frozen=True)
class Life:
    """The result of one restart or harm, in seconds from its start.

    late_s   until the first process had ended: the command was carried out, or a hang was detected
    gone_s   from then on, until all processes that had to end had ended
    heard_s  until the box heard again, and every part was up
    load     runnable processes for each core, average of the last minute
    pause_s  the supervisor's back-off before it started the part, which had failed before
    """

    what: str
    part: str
    heard_s: float
    gone_s: float
    late_s: float
    load: float
    muted: bool
    pause_s: float = 0.0

    @property
    def slow(self) -> bool:
        """Whether it took longer than the limit without the back-off."""
        return self.heard_s > self.limit_s - self.pause_s

    @property
    def limit_s(self) -> float:
        """Limit of `heard_s`: HEARS_S times the load, plus the back-off, which is a fixed time."""
        return self.late_s + self.pause_s + HEARS_S * max(1.0, self.load)


class Lives:
    """Runs one life after the other, and checks after each that the box is as before."""

    def __init__(self, at: Kitchen) -> None:
        self.at = at
        self.chance = random.Random(11)  # noqa: S311  # not a secret
        self.done: list[Life] = []
        self.wrong: list[str] = []
        self.begun_s = time.monotonic()
        at.settled()
        for on in (True, False):  # creates the mute state's file before `_things` lists files
            at.mute(on)
        self.things = self._things()

    def _things(self) -> dict[str, object]:
        """Counts and names of resources that must not grow from one life to the next."""
        at = self.at
        supervisor = at.parts()["supervisor"]
        links = []
        for link in Path(f"/proc/{supervisor}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                links.append(str(link.readlink()))
        state = at.box.root / STATE
        return {
            "processes": sorted(at.parts()),
            "memfds": sum("memfd:" in link for link in links),
            "descriptors": len(links),
            "runtime": sorted(path.name for path in at.at("run/interlude").iterdir()),
            "left in the state": [str(path.relative_to(state)) for path in state.rglob("*")
                                  if path.name.endswith((".new", ".part", ".tmp"))],
            "mounts": len(at.at("proc/1/mountinfo").read_text().splitlines()),
            "in /tmp": len(list(at.at("tmp").glob("systemd-private-*-interlude.service-*"))),
        }  # fmt: skip

    def live(self, what: str, part: str = "") -> None:
        """Do one of WAYS, or one of HARMS to a part. Appends failures to `wrong`."""
        act = WAYS[what] if not part else lambda at: HARMS[what](at.parts()[part])
        try:
            self._live(what, part, act)
        except (AssertionError, RuntimeError, OSError) as error:
            self.wrong.append(f"life {len(self.done)}: {error}")
            self._tell()
            self.at.settled(300.0)
            if self.at.muted():
                self.at.mute(on=False)
            self.things = self._things()  # report a leak once, not after each of the next lives

    def _live(self, what: str, part: str, act: Callable[[Kitchen], None]) -> None:
        at = self.at
        at.settled()
        at.talker.does = "silent" if what in QUIET else "asks"
        if what in QUIET:  # a trial waits for silence
            at.until(at.quiet, 120.0, "silence")
        else:
            time.sleep(self.chance.uniform(0.0, 3.0))  # a random moment of the conversation
        muted = self.chance.random() < MUTED
        if muted:
            at.mute(True)
        before, turns, old = at.unit(), at.turns(), at.parts()
        load = os.getloadavg()[0] / (os.cpu_count() or 1)
        began_s = time.monotonic()
        gone = [old[part]] if part else list(old.values())
        with ThreadPoolExecutor(1) as other:
            acting = other.submit(act, at)
            ended = 150.0, f"{what} {part}: an end"
            at.until(lambda: not all(map(harm.alive, gone)) or acting.done(), *ended)
            if acting.done():
                acting.result()
            at.until(lambda: not all(map(harm.alive, gone)), *ended)
            late_s = time.monotonic() - began_s
            at.talker.does = "probes"
            gone_s = at.until(lambda: not any(map(harm.alive, gone)), 30.0, f"{what}: all gone")
            if part:
                at.until(lambda: at.parts().get(part, 0) not in {0, old[part]}, 90.0,
                         f"{what}: {part} is there again")  # fmt: skip
            else:
                at.until(lambda: at.now().pid not in {0, int(before["MainPID"])}, 90.0,
                         f"{what}: another start")  # fmt: skip
            heard_s = self._heard(began_s, time.monotonic(), muted=muted)
            acting.result()
        pause_s = self._pause(part, began_s) if part else 0.0
        self.done.append(Life(what, part, heard_s, gone_s, late_s, load, muted, pause_s))
        self._is_what_it_was(self.done[-1], before, turns, old, began_s)
        if muted:
            at.mute(False)
        self._tell()

    def _heard(self, began_s: float, again_s: float, *, muted: bool) -> float:
        """Seconds from the harm until the box hears and every part is up.

        `again_s`: when the ended processes had been started again. For a muted box, the seconds
        until it is ready; it must not listen.
        """
        at = self.at
        at.until(lambda: self._ready_again(began_s), 120.0, "all parts up again")
        ready_s = self._ready_again(began_s)
        if muted:
            at.until(lambda: at.now().state == "muted", 20.0, "muted as before")
            assert at.hears(began_s) is None, "a box that was muted listened"
            return ready_s - began_s
        at.until(lambda: at.hears(again_s), 60.0, "hearing again")
        return max(ready_s, at.hears(again_s) or 0.0) - began_s

    def _pause(self, part: str, began_s: float) -> float:
        """The back-off in seconds before the last start of that part, from the log; 0 if none."""
        said = [PAUSE.search(line) for line in self.at.log(began_s)]
        pauses = [float(found[2]) for found in said if found and found[1] == part]
        return pauses[-1] if pauses else 0.0

    def _ready_again(self, began_s: float) -> float:
        """When the box became ready again; 0.0 if it has not yet."""
        looks = [look for look in self.at.looks if look.at_s > began_s]
        if not any(not look.ready for look in looks) or not looks[-1].ready:
            return 0.0
        last_s = max(look.at_s for look in looks if not look.ready)
        return next(look.at_s for look in looks if look.at_s > last_s)

    def _is_what_it_was(
        self, life: Life, before: dict[str, str], turns: dict[int, tuple[object, ...]],
        old: dict[str, int], began_s: float,
    ) -> None:  # fmt: skip
        at, name = self.at, f"{life.what} {life.part}".strip()
        at.settled()
        after, now = at.unit(), at.parts()
        assert (after["ActiveState"], after["SubState"]) == ("active", "running"), name
        starts = {look.pid for look in at.looks if look.at_s > began_s} - {0}
        starts -= {int(before["MainPID"])}
        assert len(starts) == (0 if life.part else 1), f"{name}: {len(starts)} starts"
        if life.part:
            assert after["InvocationID"] == before["InvocationID"], name
            others = {part: pid for part, pid in old.items() if part != life.part}
            assert {part: now.get(part) for part in others} == others, f"{name}: others began anew"
            if life.what == "SIGSTOP":
                most_s = (process_table.row(life.part).silent_s + 2.0) * max(1.0, life.load)
                assert life.late_s < most_s, f"{name}: seen after {life.late_s:.1f} s"
        else:
            assert life.gone_s < ORPHANS_S * max(1.0, life.load), f"{name}: {life.gone_s:.1f} s"
            if life.what == "the watchdog":
                assert life.late_s < WATCHDOG_S + 5.0, f"{name}: {life.late_s:.1f} s"
        remembered = at.turns()
        same = {number for number in turns if remembered.get(number) == turns[number]}
        if life.what in FORGETS:
            assert not same, f"{name}: {len(same)} turns are still there"
        else:
            assert len(same) == len(turns), f"{name}: {len(turns) - len(same)} turns are lost"
        at.until(lambda: self._things() == self.things, 10.0,
                 f"{name}: left behind {self._things()} where there was {self.things}")  # fmt: skip
        denied = [line for line in at.log(began_s)
                  if any(word in line for word in DENIED) and ALLOWED not in line]  # fmt: skip
        assert not denied, f"{name}: {denied[:3]}"
        assert life.heard_s <= life.limit_s, f"{name}: heard after {life.heard_s:.1f} s"

    def table(self) -> str:
        """A row for each kind of life: how often, and the seconds until the box heard again."""
        rows: dict[str, list[Life]] = defaultdict(list)
        for life in self.done:
            rows[f"{life.what} {life.part}".strip()].append(life)
        lines = [f"{'what':32} {'n':>4} {'muted':>5} {'late':>5} {'p50 s':>6} {'most s':>6}"
                 f" {'pause':>6}"]  # fmt: skip
        for name, lives in sorted(rows.items()):
            heard = [life.heard_s for life in lives]
            muted = sum(life.muted for life in lives)
            late_s = statistics.median(life.late_s for life in lives)
            p50_s, most_s = statistics.median(heard), max(heard)
            pause_s = max(life.pause_s for life in lives)
            lines.append(f"{name:32} {len(lives):4} {muted:5} {late_s:5.1f} {p50_s:6.2f}"
                         f" {most_s:6.2f} {pause_s:6.2f}")  # fmt: skip
        took_s = time.monotonic() - self.begun_s
        alone = [life.heard_s - life.late_s for life in self.done]
        load = statistics.mean(life.load for life in self.done)
        lines.append(f"{len(self.done)} lives in {took_s:.0f} s, heard again after at most"
                     f" {max(alone):.2f} s; {load:.1f} processes wanted each core")  # fmt: skip
        lines += [f"SLOW {life.what} {life.part}: heard after {life.heard_s:.1f} s, of which"
                  f" {life.pause_s:g} s were its pause"
                  for life in self.done if life.slow]  # fmt: skip
        lines += [f"WRONG {wrong}" for wrong in self.wrong]
        return "\n".join(lines)

    def _tell(self) -> None:
        if file := os.environ.get("INTERLUDE_LIVES_TABLE"):
            Path(file).write_text(self.table() + "\n")
