"""How much memory this process takes, and how much time: read off the kernel. Linux only."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

STATUS, SMAPS = Path("/proc/self/status"), Path("/proc/self/smaps")
CLEAR_REFS = Path("/proc/self/clear_refs")
MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True)
class Memory:
    """Resident memory of this process, MiB. `anonymous`: of it, what no file could give back."""

    resident: float
    anonymous: float
    peak: float

    @classmethod
    def now(cls) -> Memory:
        fields = _fields(STATUS)
        return cls(*(fields[name] / 1024 for name in ("VmRSS", "RssAnon", "VmHWM")))


def mapped_mib(path: Path) -> float:
    """Of a file that this process has mapped, what is resident."""
    parts = SMAPS.read_text().split(f" {path.resolve()}\n")[1:]
    return sum(int(part.split("Rss:", 1)[1].split(None, 1)[0]) for part in parts) / 1024


def forget_peak() -> None:
    """The peak begins anew with what is resident now (proc(5), clear_refs)."""
    CLEAR_REFS.write_text("5")


def available(meminfo: Path = MEMINFO) -> int:
    """Bytes that a new process could have without others being pushed out of memory."""
    return _fields(meminfo)["MemAvailable"] * 1024


class Stopwatch:
    """`with`: seconds that passed, and seconds of all threads' CPU."""

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
