"""Reads this process's memory and CPU time from the kernel. Linux only."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

STATUS, SMAPS = Path("/proc/self/status"), Path("/proc/self/smaps")
CLEAR_REFS = Path("/proc/self/clear_refs")
MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True)
class Memory:
    """Resident memory of this process, MiB. `anonymous`: the part that is not backed by a file."""

    resident: float
    anonymous: float
    peak: float

    @classmethod
    def now(cls) -> Memory:
        fields = _fields(STATUS)
        return cls(*(fields[name] / 1024 for name in ("VmRSS", "RssAnon", "VmHWM")))


def mapped_mib(path: Path) -> float:
    """The resident part of a mapped file of this process, MiB."""
    parts = SMAPS.read_text().split(f" {path.resolve()}\n")[1:]
    return sum(int(part.split("Rss:", 1)[1].split(None, 1)[0]) for part in parts) / 1024


def forget_peak() -> None:
    """Reset the peak to the current resident memory (proc(5), clear_refs)."""
    CLEAR_REFS.write_text("5")


def available(meminfo: Path = MEMINFO) -> int:
    """Bytes that a new process can use without swapping (proc(5), MemAvailable)."""
    return _fields(meminfo)["MemAvailable"] * 1024


class Stopwatch:
    """Context manager that measures wall time and the CPU time of all threads, in seconds."""

    wall_s = cpu_s = 0.0

    def __enter__(self) -> Stopwatch:
        self._began = time.monotonic(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        wall_s, cpu_s = self._began
        self.wall_s, self.cpu_s = time.monotonic() - wall_s, time.process_time() - cpu_s


def _fields(path: Path) -> dict[str, int]:
    lines = (line.split(":", 1) for line in path.read_text().splitlines())
    return {name: int(rest.split()[0]) for name, rest in lines if rest.strip().endswith(" kB")}
