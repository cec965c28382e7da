"""What came of the last look for a newer version, at the box's address or on a stick: for the page.

Written by the user that looked (interlude-pull), who has no rights; read as any stranger's file.
The marks of root say that a look was asked for: by their age it is known whether it is awaited.
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

FOLDER = Path("/run/interlude-pull")  # tmpfiles.d: of the user that looks; in memory
LookSource = Literal["web", "stick"]
LookPhase = Literal["looks", "fetches", "over"]
LONGEST_S = 7200.0  # TimeoutStartSec= of interlude-pull.service; a look that is older was cut short
# From the order until the look has begun: systemd's start of a program on a busy Pi. A stick has to
# be found and plugged in; /usr/lib/interlude/stick has the same limit.
AWAITED_S = {"web": 60.0, "stick": 900.0}
MOST_BYTES = 8192

Line = Annotated[str, msgspec.Meta(max_length=1000)]


class LookRecord(msgspec.Struct, frozen=True):
    """`at_s`: by the clock on the wall. `version`: what is being fetched. `key`, `values`: what
    came of it, as a sentence of the catalogue; `text`: the same in English. `well`: it came to an
    end without an error."""

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
    """The last look there; None where none was made since the power came."""
    return read_record(folder / source, LookRecord, MOST_BYTES)


class LookTeller:
    """Writes how a look goes; that it cannot be written keeps nobody from looking."""

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
    def looking(self) -> Iterator[LookTeller]:
        """Begins, and tells of an error that ends it."""
        self._write(LookRecord(self._now_s(), "looks"))
        try:
            yield self
        except InterludeError as error:
            self.failed(error)
            raise

    def _write(self, record: LookRecord) -> None:
        with contextlib.suppress(OSError):
            write_whole(self._file, msgspec.json.encode(record), lasting=False)


def mark(source: LookSource, folder: Path = CHANGED) -> Path:
    """As root it is touched when somebody asked for a look."""
    return folder / f"look-{source}"


def awaited(
    source: LookSource, now_s: float, folder: Path = FOLDER, changed: Path = CHANGED
) -> bool:
    """Whether a look was ordered that has not begun. `now_s`: by the clock on the wall."""
    try:
        ordered_s = mark(source, changed).lstat().st_mtime
    except OSError:
        return False
    last = read(source, folder)
    begun = last is not None and last.at_s >= ordered_s
    return not begun and 0 <= now_s - ordered_s < AWAITED_S[source]
