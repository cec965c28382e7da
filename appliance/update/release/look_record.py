"""Records the last look for a newer version, at the fleet's address or on a stick, for the page.

The unprivileged user interlude-pull writes the record, so it is read as an untrusted file. A mark
file of root's says that a look was requested; its age tells whether the look is still expected.
Records are in memory; the time of the last look at the address that succeeded is that of a file on
the card. A releases' server that an attacker holds back is noticed by it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import InterludeError
from appliance.language.catalogue import BoxSentence, english
from appliance.record_file import read_record
from appliance.runtime.handed_request import CHANGED

FOLDER = Path("/run/interlude-pull")  # tmpfiles.d: owned by interlude-pull; in memory
LookSource = Literal["web", "stick"]
LookPhase = Literal["looks", "fetches", "over"]
LONGEST_S = 7200.0  # TimeoutStartSec= of interlude-pull.service; an older look was interrupted
# From the request to the start of the look. web: systemd starts a program on a busy Pi. stick: the
# owner has to find a stick and plug it in; /usr/lib/interlude/stick has the same limit.
AWAITED_S = {"web": 60.0, "stick": 900.0}
MOST_BYTES = 8192
PULL = Path("/etc/interlude/pull.env")  # root's: the address; without it the box looks nowhere
SUCCEEDED = ".looked"  # in the incoming folder: where interlude-pull can write on the card
STALE_DAYS = 30  # without a look that succeeded, the owner is told

Line = Annotated[str, msgspec.Meta(max_length=1000)]


class LookRecord(msgspec.Struct, frozen=True):
    """The state of a look. `at_s`: wall-clock time. `version`: the one being fetched. `key`,
    `values`: the result as a sentence of the catalogue; `text`: the same in English. `well`: no
    error occurred."""

    at_s: Annotated[float, msgspec.Meta(ge=0, le=4e9)]
    phase: LookPhase
    version: Line = ""
    text: Line = ""
    key: Line = ""
    values: Annotated[dict[str, str | int | float], msgspec.Meta(max_length=8)] = {}
    well: bool = True

    def goes_on(self, now_s: float) -> bool:
        return self.phase != "over" and abs(now_s - self.at_s) < LONGEST_S


def read(source: LookSource, folder: Path = FOLDER) -> LookRecord | None:
    """The last look at `source`; None if there was none since the machine started."""
    return read_record(folder / source, LookRecord, MOST_BYTES)


class LookReporter:
    """Writes the state of a look. An OSError is ignored, so that the look itself goes on."""

    def __init__(
        self, source: LookSource, folder: Path = FOLDER, now_s: Callable[[], float] = time.time
    ) -> None:
        self._file, self._now_s = folder / source, now_s

    def fetches(self, version: str) -> None:
        self._write(LookRecord(self._now_s(), "fetches", version))

    def over(self, found: BoxSentence) -> None:
        text = found.text(english())[:1000]
        self._write(LookRecord(self._now_s(), "over", "", text, found.key, dict(found.values)))

    def failed(self, error: InterludeError) -> None:
        key, values = error.on_page
        text = str(error)[:1000]
        self._write(LookRecord(self._now_s(), "over", "", text, key, dict(values), well=False))

    @contextmanager
    def looking(self) -> Iterator[LookReporter]:
        """Record the start of a look, and an InterludeError that ends it."""
        self._write(LookRecord(self._now_s(), "looks"))
        try:
            yield self
        except InterludeError as error:
            self.failed(error)
            raise

    def _write(self, record: LookRecord) -> None:
        with contextlib.suppress(OSError):
            write_whole(self._file, msgspec.json.encode(record), lasting=False)


def note_success(incoming: Path) -> None:
    """Note that a look at the fleet's address succeeded now. An OSError is ignored."""
    with contextlib.suppress(OSError):
        write_whole(incoming / SUCCEEDED, b"")


def is_stale(now_s: float, incoming: Path, pull: Path = PULL) -> bool:
    """Whether the box looks for releases, and no look has succeeded for STALE_DAYS, nor was its
    address set since. `now_s`: wall-clock time."""
    try:
        times_s = [pull.lstat().st_mtime]
    except OSError:
        return False
    with contextlib.suppress(OSError):
        times_s.append((incoming / SUCCEEDED).lstat().st_mtime)
    return now_s - max(times_s) >= STALE_DAYS * 86_400


def mark(source: LookSource, folder: Path = CHANGED) -> Path:
    """The file that root touches when a look is requested."""
    return folder / f"look-{source}"


def awaited(
    source: LookSource, now_s: float, folder: Path = FOLDER, changed: Path = CHANGED
) -> bool:
    """Whether a look was requested and has not started yet. `now_s`: wall-clock time."""
    try:
        requested_s = mark(source, changed).lstat().st_mtime
    except OSError:
        return False
    last = read(source, folder)
    started = last is not None and last.at_s >= requested_s
    return not started and 0 <= now_s - requested_s < AWAITED_S[source]
