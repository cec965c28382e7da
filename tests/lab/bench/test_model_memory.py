"""Memory and time of this process, read from the kernel."""

from __future__ import annotations

import mmap
import threading
from pathlib import Path

import pytest

from lab.bench.model_memory import Memory, Stopwatch, available, forget_peak, mapped_mib

LARGE_MIB = 64


def touched_pages() -> mmap.mmap:
    """LARGE_MIB of the kernel's own: malloc might return pages that were resident before."""
    pages = mmap.mmap(-1, LARGE_MIB << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, len(pages), mmap.PAGESIZE):
        pages[at] = 1
    return pages


def test_allocated_memory_is_resident_and_anonymous_and_its_peak_stays() -> None:
    before = Memory.now()
    with touched_pages():
        now = Memory.now()
    assert now.anonymous - before.anonymous > LARGE_MIB / 2
    assert now.peak >= now.resident > now.anonymous
    assert Memory.now().peak >= now.resident - 1


def test_a_reset_peak_starts_at_the_resident_memory() -> None:
    with touched_pages():
        peak_before = Memory.now().peak
    forget_peak()
    now = Memory.now()
    assert now.peak < peak_before - LARGE_MIB / 2
    assert now.peak >= now.resident - 1


def test_only_touched_pages_of_a_mapped_file_are_resident(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(8 << 20))
    assert mapped_mib(path) == 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
        assert sum(pages[at] for at in range(0, len(pages), mmap.PAGESIZE)) == 0
        assert mapped_mib(path) == pytest.approx(8, abs=0.5)


def test_the_available_memory_is_the_kernels_value_in_bytes(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  8000000 kB\nMemAvailable:  5000000 kB\nHugePages_Total:  0\n")
    assert available(meminfo) == 5_000_000 * 1024
    assert available() > 0
    meminfo.write_text("MemTotal:  8000000 kB\n")
    with pytest.raises(KeyError, match="MemAvailable"):
        available(meminfo)


def test_a_stopwatch_measures_wall_time_and_cpu_time() -> None:
    with Stopwatch() as busy:
        assert sum(range(1_000_000))
    assert busy.cpu_s > 0
    assert busy.wall_s > 0
    with Stopwatch() as idle:
        threading.Event().wait(0.1)
    assert idle.wall_s >= 0.1
    assert idle.cpu_s < idle.wall_s
