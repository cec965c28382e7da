"""Memory and time of this process, as the kernel tells them."""

from __future__ import annotations

import mmap
import threading
from pathlib import Path

import numpy as np
import pytest

from lab.bench.model_memory import Memory, Stopwatch, available, forget_peak, mapped_mib

LARGE_MIB = 64


def test_what_is_taken_is_resident_and_in_no_file_and_its_peak_stays() -> None:
    before = Memory.now()
    taken = np.ones(LARGE_MIB << 20, np.uint8)
    now = Memory.now()
    assert now.anonymous - before.anonymous > LARGE_MIB / 2
    assert now.peak >= now.resident > now.anonymous
    assert taken[-1]
    del taken
    assert Memory.now().peak >= now.resident - 1


def test_a_peak_that_is_forgotten_begins_with_what_is_resident() -> None:
    taken = np.ones(LARGE_MIB << 20, np.uint8)
    high = Memory.now().peak
    assert taken[-1]
    del taken
    forget_peak()
    now = Memory.now()
    assert now.peak < high - LARGE_MIB / 2
    assert now.peak >= now.resident - 1


def test_of_a_mapped_file_what_was_touched_is_resident(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(8 << 20))
    assert mapped_mib(path) == 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
        assert sum(pages[at] for at in range(0, len(pages), mmap.PAGESIZE)) == 0
        assert mapped_mib(path) == pytest.approx(8, abs=0.5)


def test_what_is_available_is_the_kernels_line_in_bytes(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  8000000 kB\nMemAvailable:  5000000 kB\nHugePages_Total:  0\n")
    assert available(meminfo) == 5_000_000 * 1024
    assert available() > 0
    meminfo.write_text("MemTotal:  8000000 kB\n")
    with pytest.raises(KeyError, match="MemAvailable"):
        available(meminfo)


def test_a_stopwatch_tells_time_that_passed_and_time_of_the_processor() -> None:
    with Stopwatch() as busy:
        assert sum(range(1_000_000))
    assert busy.cpu_s > 0
    assert busy.wall_s > 0
    with Stopwatch() as idle:
        threading.Event().wait(0.1)
    assert idle.wall_s >= 0.1
    assert idle.cpu_s < idle.wall_s
