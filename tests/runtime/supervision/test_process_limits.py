"""Limits, scheduling and memory locking of a process, and behaviour when memory is short."""

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
def test_a_part_far_over_its_memory_budget_fails_and_the_others_continue(parts: Make) -> None:
    supervisor = parts({"first": "takes memory", "thinker": "takes memory", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].starts == 2)
    until(supervisor, lambda: supervisor.parts["thinker"].announced)
    until(supervisor, lambda: supervisor.parts["second"].announced)
    assert PartChanged("first", "down", "exited with code 1") in mail(supervisor)
    assert supervisor.parts["thinker"].starts == supervisor.parts["second"].starts == 1


@pytest.mark.process
def test_the_thinker_is_the_first_target_of_the_out_of_memory_killer(parts: Make) -> None:
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

def mapped_kib():
    return kib("RssFile:") + kib("RssShmem:")  # the latter: of files in memory

reserved = mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
said = lock_memory()
before = kib("RssAnon:")
reserved[: 32 << 20] = bytes(32 << 20)
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
files = mapped_kib()
read_mapped_files()
print(json.dumps({"said": said, "locked": kib("VmLck:"), "before": before,
                  "touched": kib("RssAnon:") - before, "file": mapped_kib() - files}))
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
def test_memory_is_locked_or_the_reason_is_reported(seen: dict[str, int]) -> None:
    assert seen["locked"] > 0 or "cannot be locked" in str(seen["said"])


@pytest.mark.process
def test_reserved_memory_is_not_resident(seen: dict[str, int]) -> None:
    assert seen["before"] < 128 << 10


@pytest.mark.process
def test_touched_memory_is_resident(seen: dict[str, int]) -> None:
    assert seen["touched"] >= 31 << 10


@pytest.mark.process
def test_a_mapped_file_is_read_ahead(seen: dict[str, int]) -> None:
    assert seen["file"] >= 15 << 10


# ── in a thread with its own affinity and priority ───────────────────────────────────────────
def in_thread(act: Callable[[], T]) -> T:
    """The result of `act` in a short-lived thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(act).result()


def test_only_existing_cores_are_used() -> None:
    core = min(os.sched_getaffinity(0))

    def pinned() -> tuple[str, set[int]]:
        return set_cores((core, 1023)), os.sched_getaffinity(0)

    assert in_thread(pinned) == ("", {core})


def test_without_an_existing_core_the_affinity_is_unchanged_and_reported() -> None:
    def pinned() -> tuple[str, set[int]]:
        return set_cores((1022, 1023)), os.sched_getaffinity(0)

    assert in_thread(pinned) == ("no core 1022, 1023 here", os.sched_getaffinity(0))


def test_without_requested_cores_the_affinity_is_unchanged() -> None:
    before = os.sched_getaffinity(0)
    assert in_thread(lambda: (set_cores(()), os.sched_getaffinity(0))) == ("", before)


def test_an_invalid_priority_is_reported_and_does_not_raise() -> None:
    wanted = replace(row("part"), scheduling="fifo", priority=100)
    assert in_thread(lambda: set_priority(wanted)).startswith("fifo scheduling is not permitted (")


def test_a_normal_row_sets_no_priority() -> None:
    def asked() -> tuple[str, int]:
        return set_priority(row("part")), os.sched_getscheduler(0)

    assert in_thread(asked) == ("", os.SCHED_OTHER)


def test_an_oom_score_is_never_lowered() -> None:
    file = Path("/proc/self/oom_score_adj")
    before = file.read_text()
    assert offer_to_oom_killer(int(before)) == ""
    assert offer_to_oom_killer(-1000) == ""
    assert file.read_text() == before
