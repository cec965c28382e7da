"""Recovery of the service: every cause of a restart, every harm to every part, in a conversation.

The real release runs under the real units and systemd, in a container, with a software sound card
into which an owner talks all the time. `INTERLUDE_LIVES=100` does each 100 times instead of some of
them once, in random order; `INTERLUDE_LIVES_S=3600` stops after an hour, whatever is left;
`INTERLUDE_LIVES_ONLY=REGEX` selects by name; `INTERLUDE_LIVES_TABLE=FILE` writes the figures to a
file during the run. Unlike a Pi this machine does not have four cores for the box alone, real-time
priorities, and a slow card.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import time
from collections.abc import Iterator

import pytest

from appliance.runtime import process_table
from image.test import real
from image.test.fleet import scratch, started
from image.test.harm import HARMS
from image.test.kitchen import SETTINGS, Kitchen, kitchen
from image.test.lives import Lives
from image.test.ways import QUIET, WAYS

TIMES = int(os.environ.get("INTERLUDE_LIVES", "0"))
ONLY = re.compile(os.environ.get("INTERLUDE_LIVES_ONLY", ""))
MOST_S = float(os.environ.get("INTERLUDE_LIVES_S", "1e9"))
pytestmark = pytest.mark.timeout(1800 if not TIMES else 0)

OLD, NEW = "9.0.0", "9.1.0"
BAD = ("SIGKILL of the supervisor", "the watchdog")
BY_HAND = ("systemctl restart", "")
STAYS_S = 120.0  # time that the box must stay up after the last life
PARTS = tuple(row.name for row in process_table.PROCESSES)
QUICK = (("SIGKILL", "listener"), ("signal 40", "capture"), ("out of memory", "conductor"),
         ("SIGSTOP", "playback"), ("out of memory", "thinker"), ("SIGKILL", "link"),
         ("signal 40", "panel"), ("SIGSTOP", "capture"))  # fmt: skip


@pytest.fixture(scope="module")
def at() -> Iterator[Kitchen]:
    """A box that runs the older of two releases, a broker, and an owner who talks."""
    with scratch() as folder, started(folder, 1) as made:
        old, new = real.releases(folder, made.key, (OLD, NEW))
        box = made.boxes[0]
        with real.sound_card(box.root) as card, kitchen(box, card, folder) as home:
            words = {"interlude_release_file": str(old), "interlude_settings": SETTINGS}
            played = made.play("site.yml", "--skip-tags", "packages", "-e", json.dumps(words))
            assert played.code == 0, played.said[-3000:]
            shutil.copy(new, box.root / "opt/interlude/incoming/new.release")
            yield home


def all_lives() -> list[tuple[str, str]]:
    """The list: everything TIMES times, shuffled, or the shorter list of `make test-boxes`."""
    ways = [(way, "") for way in WAYS]
    if not TIMES:
        return [*ways, *QUICK]
    harms = [(what, part) for what in HARMS for part in PARTS]
    wanted = [life for life in (*ways, *harms) if ONLY.search(" ".join(life))]
    every = [life for life in wanted for _ in range(TIMES) if life[0] not in QUIET]
    random.Random(7).shuffle(every)  # noqa: S311  # the same order each time, and no secret
    # After four failures in half an hour the box would roll its release back; a restart by hand
    # before each resets the counter.
    every = [life for one in every for life in ((one, BY_HAND) if one[0] in BAD else (one,))]
    there_and_back = [life for _ in range(TIMES) for life in wanted if life[0] in QUIET]
    step = len(every) // max(1, len(there_and_back))
    for number, one in enumerate(there_and_back):
        every.insert(number * (step + 1), one)
    return every


def test_after_every_life_the_box_hears_as_before_and_nothing_is_lost_or_left_behind(
    at: Kitchen,
) -> None:
    lives = Lives(at)
    limit_s = time.monotonic() + MOST_S
    try:
        for what, part in all_lives():
            if time.monotonic() > limit_s:
                break
            lives.live(what, part)
    finally:
        if lives.done:
            print(f"\n{lives.table()}")
    pid, now_s = at.now().pid, time.monotonic()
    time.sleep(STAYS_S if TIMES else 5.0)
    assert at.unit()["ActiveState"] == "active"
    assert {look.pid for look in at.looks if look.at_s > now_s} <= {pid}
    assert not lives.wrong
