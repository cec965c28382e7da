"""What a process asks of the system, and what comes of it where memory is short."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from appliance.messages.supervision import PartChanged
from appliance.runtime.supervision.process_limits import (
    offer_to_oom_killer,
    set_cores,
    set_priority,
)
from tests.runtime.small_parts import Make, mail, pid, row, until

T = TypeVar("T")


@pytest.mark.process
def test_who_takes_far_more_memory_than_its_budget_gets_none_and_the_others_live_on(
    parts: Make,
) -> None:
    supervisor = parts({"first": "takes memory", "thinker": "takes memory", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].starts == 2)
    until(supervisor, lambda: supervisor.parts["thinker"].announced)
    until(supervisor, lambda: supervisor.parts["second"].announced)
    assert PartChanged("first", "down", "exited with code 1") in mail(supervisor)
    assert supervisor.parts["thinker"].starts == supervisor.parts["second"].starts == 1


@pytest.mark.process
def test_the_thinker_is_the_first_that_the_out_of_memory_killer_takes(parts: Make) -> None:
    supervisor = parts(dict.fromkeys(("conductor", "capture", "words", "thinker"), "works"))
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)

    def score(process: int | str) -> int:
        return int(Path(f"/proc/{process}/oom_score_adj").read_text())

    scores = {name: score(pid(supervisor, name)) for name in supervisor.parts}
    assert scores["thinker"] == 1000 > scores["words"] > scores["conductor"]
    assert scores["conductor"] == scores["capture"] == score("self")


SCRIPT = """
import json, mmap, sys
from pathlib import Path
from appliance.runtime.supervision.process_limits import lock_memory, read_mapped_files

def kib(word):
    line = next(l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith(word))
    return int(line.split()[1])

reserved = mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
said = lock_memory()
before = kib("RssAnon:")
reserved[: 32 << 20] = bytes(32 << 20)
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
files = kib("RssFile:")
read_mapped_files()
print(json.dumps({"said": said, "locked": kib("VmLck:"), "before": before,
                  "touched": kib("RssAnon:") - before, "file": kib("RssFile:") - files}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    large = tmp_path_factory.mktemp("mapped") / "file"
    large.write_bytes(b"x" * (16 << 20))
    done = subprocess.run([sys.executable, "-c", SCRIPT, large], check=True, capture_output=True,
                          text=True, cwd=Path(__file__).parents[3])  # fmt: skip
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.process
def test_it_is_locked_or_it_is_said_why(seen: dict[str, int]) -> None:
    assert seen["locked"] > 0 or "cannot be locked" in str(seen["said"])


@pytest.mark.process
def test_what_was_only_reserved_takes_no_memory(seen: dict[str, int]) -> None:
    assert seen["before"] < 128 << 10


@pytest.mark.process
def test_what_is_touched_is_there(seen: dict[str, int]) -> None:
    assert seen["touched"] >= 31 << 10


@pytest.mark.process
def test_a_mapped_file_is_read_before_anybody_looks_at_it(seen: dict[str, int]) -> None:
    assert seen["file"] >= 15 << 10


# ── in a thread of its own, whose cores and priority are nobody else's ───────────────────────
def apart(act: Callable[[], T]) -> T:
    """What it returns in a thread that ends with it."""
    with ThreadPoolExecutor(1) as one:
        return one.submit(act).result()


def test_of_the_cores_that_are_wanted_those_that_exist_are_taken() -> None:
    core = min(os.sched_getaffinity(0))

    def pinned() -> tuple[str, set[int]]:
        return set_cores((core, 1023)), os.sched_getaffinity(0)

    assert apart(pinned) == ("", {core})


def test_where_none_of_the_cores_exists_it_runs_anywhere_and_says_so() -> None:
    def pinned() -> tuple[str, set[int]]:
        return set_cores((1022, 1023)), os.sched_getaffinity(0)

    assert apart(pinned) == ("no core 1022, 1023 here", os.sched_getaffinity(0))


def test_who_wants_no_core_in_particular_is_left_alone() -> None:
    before = os.sched_getaffinity(0)
    assert apart(lambda: (set_cores(()), os.sched_getaffinity(0))) == ("", before)


def test_a_priority_that_there_is_not_is_said_and_not_raised() -> None:
    wanted = replace(row("part"), scheduling="fifo", priority=100)
    assert apart(lambda: set_priority(wanted)).startswith("fifo scheduling is not permitted (")


def test_an_ordinary_row_asks_for_no_priority() -> None:
    def asked() -> tuple[str, int]:
        return set_priority(row("part")), os.sched_getscheduler(0)

    assert apart(asked) == ("", os.SCHED_OTHER)


def test_who_is_already_further_ahead_of_the_out_of_memory_killer_stays_there() -> None:
    file = Path("/proc/self/oom_score_adj")
    before = file.read_text()
    assert offer_to_oom_killer(int(before)) == ""
    assert offer_to_oom_killer(-1000) == ""
    assert file.read_text() == before
