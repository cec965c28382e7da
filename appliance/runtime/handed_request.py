"""Requests of an unprivileged part to a privileged unit, and their outcomes; both sides.

The part writes one small record to a folder on a tmpfs (it may contain a password). A path unit
starts the service, which reads and deletes the record, checks it again and writes the outcome to a
folder that the part may only read.

Others may write to the request folder, so the service does not trust a file's name: it opens the
file once, checks that the requesting user owns it, and refuses symlinks and FIFOs
(atomic_file.read_small).
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

WANTED = Path("/run/interlude-wanted")  # tmpfiles.d: of root, sticky; the box may write to it
CHANGED = Path("/run/interlude-changed")  # tmpfiles.d: of root; the outcomes
MOST_BYTES = 32_768  # of a record

Line = Annotated[str, msgspec.Meta(max_length=1000)]
T = TypeVar("T", bound=msgspec.Struct)


class RequestRecord(Protocol):
    """A msgspec record; its outcome has the same id."""

    @property
    def id(self) -> str: ...


class RequestOutcome(msgspec.Struct, frozen=True):
    """The outcome of the request `id`. `problem`: why nothing was changed; "": it was changed.
    `names`: the result of a query: Wi-Fis in reach, or how a broker answered. `key`, `values`:
    the problem as a sentence of the catalogue (errors.ShownAs); "": there is none."""

    id: str
    problem: Line = ""
    remedy: Line = ""
    names: tuple[Line, ...] = ()
    key: Line = ""
    values: dict[str, str | int | float] = {}

    @classmethod
    def of_error(cls, request: str, error: InterludeError) -> RequestOutcome:
        """The outcome of a request that failed with `error`."""
        key, values = error.on_page
        return cls(request, error.problem, error.remedy, key=key, values=dict(values))


def new_id() -> str:
    """A random id for a request and its outcome."""
    return secrets.token_hex(8)


def ask(name: str, record: RequestRecord, folder: Path = WANTED) -> None:
    """Write the request `name` for its unit. Raises NotAllowed while the unit has not yet taken an
    earlier one, StorageError."""
    path = folder / name
    if path.exists():
        raise NotAllowed(
            "Another change is being made.",
            "Try again in a few seconds.",
            shown=ShownAs.of("page-wrong-another-change"),
        )
    try:
        write_whole(path, msgspec.json.encode(record), 0o600, lasting=False)
    except OSError as error:
        problem = f"The system service that does this cannot be reached ({error.strerror})."
        shown = ShownAs.of("page-wrong-nobody-asked", why=error.strerror or "")
        raise StorageError(problem, "Do it over ssh.", shown=shown) from error


def pop(name: str, kind: type[T], owner: int, folder: Path = WANTED) -> T | None:
    """For the unit: read and delete the request. None if it is not a record of type `kind`, or the
    user `owner` does not own it. Raises StorageError if it cannot be deleted: the path unit would
    start the service again and again."""
    path = folder / name
    try:
        return msgspec.json.decode(read_small(path, MOST_BYTES, owner=owner), type=kind)
    except (OSError, *UNREADABLE):
        return None
    finally:
        _remove(path)


def tell(name: str, outcome: RequestOutcome, folder: Path = CHANGED) -> None:
    """For the unit: write the outcome of a request. Raises StorageError."""
    try:
        write_whole(folder / name, msgspec.json.encode(outcome), lasting=False)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written ({error.strerror}).") from error


def outcome(name: str, request: str, folder: Path = CHANGED) -> RequestOutcome | None:
    """The outcome of the request with that id; None while there is none."""
    found = read_record(folder / name, RequestOutcome)
    return found if found is not None and found.id == request else None


def _remove(path: Path) -> None:
    """Delete the request; a folder of that name is renamed, and stays with its owner."""
    try:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EPERM):
                raise
            path.rename(path.with_name(f".{path.name}.refused-{secrets.token_hex(8)}"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{path} cannot be removed ({error.strerror}).") from error
