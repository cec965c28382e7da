"""The peak memory of this process, for tests of input that must not fill it."""

from __future__ import annotations

from pathlib import Path


class Peak:
    """The peak memory of this process since the object was created, above its memory then."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM, proc(5)
        self._before_kib = self._field("VmRSS")

    @property
    def mib(self) -> float:
        return (self._field("VmHWM") - self._before_kib) / 1024

    def _field(self, name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))
