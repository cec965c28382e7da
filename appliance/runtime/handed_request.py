"""Requests of a part without rights to a unit that has them, and what came of each.

The part leaves one small record in a folder in memory (a password may be in it); a path unit starts
the service, which takes it away, checks it again and leaves its outcome where the part may only
read. Both sides are here.

A name in a folder that others may write proves nothing: the file is opened once, has to belong to
whoever may ask, and is no link and no FIFO (atomic_file.read_small).
"""

from __future__ import annotations

import errno
import secrets
from pathlib import Path
from typing import Annotated, Protocol, TypeVar

import msgspec

from appliance.atomic_file import read_small, write_whole
from appliance.errors import InterludeError, NotAllowed, ShownAs, StorageError
from appliance.record_file import UNREADABLE, read_record

WANTED = Path("/run/interlude-wanted")  # tmpfiles.d: root's and sticky; the box may leave records
CHANGED = Path("/run/interlude-changed")  # tmpfiles.d: root's; what came of them
MOST_BYTES = 32_768  # of a record

Line = Annotated[str, msgspec.Meta(max_length=1000)]
T = TypeVar("T", bound=msgspec.Struct)


class RequestRecord(Protocol):
    """A msgspec record; its outcome is known by its id."""

    @property
    def id(self) -> str: ...


class RequestOutcome(msgspec.Struct, frozen=True):
    """What came of the request `id`. `problem`: why nothing was changed; "": it was.
    `names`: what was asked for: Wi-Fis in reach, or how a broker answered. `key`, `values`: the
    same as a sentence of the catalogue (errors.ShownAs); "": there is none."""

    id: str
    problem: Line = ""
    remedy: Line = ""
    names: tuple[Line, ...] = ()
    key: Line = ""
    values: dict[str, str | int | float] = {}

    @classmethod
    def of_error(cls, request: str, error: InterludeError) -> RequestOutcome:
        """Nothing was changed, for that reason."""
        key, values = error.on_page
        return cls(request, error.problem, error.remedy, key=key, values=dict(values))


def new_id() -> str:
    """For a request: its outcome is known by it."""
    return secrets.token_hex(8)


def ask(name: str, record: RequestRecord, folder: Path = WANTED) -> None:
    """Leave a request for the unit of that name. Raises NotAllowed where the one before it has not
    been taken yet, StorageError."""
    place = folder / name
    if place.exists():
        raise NotAllowed(
            "Another change is being made.",
            "Try again in a few seconds.",
            shown=ShownAs.of("page-wrong-another-change"),
        )
    try:
        write_whole(place, msgspec.json.encode(record), 0o600, lasting=False)
    except OSError as error:
        problem = f"Nobody here can be asked for that ({error.strerror})."
        shown = ShownAs.of("page-wrong-nobody-asked", why=error.strerror or "")
        raise StorageError(problem, "Change it over ssh.", shown=shown) from error


def pop(name: str, kind: type[T], owner: int, folder: Path = WANTED) -> T | None:
    """As the unit: the request, once. None for what is no record of that kind, or not the user
    `owner`'s. Raises StorageError if it cannot be taken away: it would be found again and again."""
    place = folder / name
    try:
        return msgspec.json.decode(read_small(place, MOST_BYTES, owner=owner), type=kind)
    except (OSError, *UNREADABLE):
        return None
    finally:
        _take_away(place)


def tell(name: str, outcome: RequestOutcome, folder: Path = CHANGED) -> None:
    """As the unit: what came of it. Raises StorageError."""
    try:
        write_whole(folder / name, msgspec.json.encode(outcome), lasting=False)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written ({error.strerror}).") from error


def outcome(name: str, request: str, folder: Path = CHANGED) -> RequestOutcome | None:
    """What came of the request with that id; None as long as it is not known."""
    found = read_record(folder / name, RequestOutcome)
    return found if found is not None and found.id == request else None


def _take_away(place: Path) -> None:
    """A folder under this name is renamed and stays with whoever made it."""
    try:
        try:
            place.unlink(missing_ok=True)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EPERM):
                raise
            place.rename(place.with_name(f".{place.name}.refused-{secrets.token_hex(8)}"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{place} cannot be removed ({error.strerror}).") from error
