"""Stores timers on disk in one small file that is replaced atomically.

In: timers; a separate thread writes them, since an SD card may take a second. Out: the timers of
the file at the start, and error messages. A damaged file is renamed, so that it blocks nothing.
"""

from __future__ import annotations

import contextlib
import queue
from pathlib import Path

import msgspec

from appliance.background_file import BackgroundFileWriter
from appliance.record_file import UNREADABLE
from appliance.runtime.secure_erase import replace
from appliance.settings import Settings
from appliance.tools.timers import MOST, Timer

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
STOP_S = 2.0  # timeout of the last write at an orderly stop
MOST_BYTES = 64_000  # a normal file has a hundredth of this


class _File(msgspec.Struct, frozen=True):
    """The content of the file. `boot`: id of the boot for which the `due_boot_s` are valid."""

    version: int
    boot: str
    timers: tuple[Timer, ...]


def path(settings: Settings) -> Path:
    return settings.state_path() / "timers" / "timers.json"


def boot_id() -> str:
    """Return the kernel's boot id, which changes at each boot; "" if it cannot be read."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def encoded(timers: tuple[Timer, ...], boot: str = "") -> bytes:
    """Encode timers as a file; without `boot`, only their wall-clock times are valid."""
    return msgspec.json.encode(_File(1, boot, timers))


def decoded(data: bytes) -> tuple[Timer, ...]:
    """Decode the timers of a file. Raises one of UNREADABLE."""
    return msgspec.json.decode(data, type=_File).timers[:MOST]


class TimerStore:
    """Loads and saves the timers. `save` returns at once; only the newest timers are written."""

    def __init__(self, file: Path, boot: str) -> None:
        self._file = file
        self._boot = boot
        self._writable = True
        self.complaints: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._writer = BackgroundFileWriter("timers", self._write, self._written)

    def load(self) -> tuple[tuple[Timer, ...], bool]:
        """Return the stored timers, and whether they are of the present boot."""
        try:
            with self._file.open("rb") as source:
                data = source.read(MOST_BYTES)
            found = msgspec.json.decode(data, type=_File)
        except FileNotFoundError:
            return (), True
        except OSError as error:
            self.complaints.put(f"{self._file} cannot be read ({error.strerror})")
            return (), True
        except UNREADABLE:
            self.complaints.put(f"{self._file} was damaged; its timers are lost")
            with contextlib.suppress(OSError):  # the next write then replaces it
                self._file.replace(self._file.with_suffix(".damaged"))
            return (), True
        return found.timers[:MOST], bool(self._boot) and found.boot == self._boot

    def save(self, timers: tuple[Timer, ...]) -> None:
        self._writer.write_later(encoded(timers, self._boot))

    def close(self) -> None:
        """Finish pending writes, for at most STOP_S."""
        self._writer.request_stop()
        self._writer.join(STOP_S)

    def _write(self, data: bytes) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(self._file, data, 0o600)  # names of timers are the owner's words

    def _written(self, data: bytes, problem: str) -> None:
        if problem and self._writable:
            self.complaints.put(f"timers are not saved: {self._file} ({problem})")
        self._writable = not problem
