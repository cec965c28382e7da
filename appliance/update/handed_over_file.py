"""Reads files from unprivileged users: archives, and notes in folders that others may write.

A name in such a folder proves nothing. Between two uses of the name, the file may be replaced by a
FIFO (whose open(2) blocks for ever), a symlink, a folder, a sparse file of terabytes, or another
file. So the name is opened once, fstat(2) checks the descriptor before anything is read, and all
later reads use the descriptor. The content may still change: code that stores or executes it makes
a copy first, or hashes the bytes while it uses them. Used for releases, systems and notes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType

from appliance.atomic_file import ONCE
from appliance.errors import ReleaseRefused, ShownAs, StorageError

CHUNK = 1 << 20  # bytes read at once
NOTE_BYTES = 255  # of a note, which holds a file name (NAME_MAX)


class HandedOverFile:
    """A regular file of limited size, opened once. Closed by `close`, or as a context manager.

    `size`: in bytes, at the time it was opened.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        """Open `path` without blocking. Raises ReleaseRefused if it is not a regular file, is
        larger than `most_bytes`, or cannot be opened."""
        self.path, self.name = path, path.name
        try:
            self._fd = os.open(path, ONCE)
        except OSError as error:
            if error.errno == errno.ELOOP:
                problem = f"{self.name} is a link."
                raise ReleaseRefused(problem, "Name the file itself.") from error
            raise ReleaseRefused(f"{path} cannot be read ({error.strerror}).") from error
        self._opened_stat = os.fstat(self._fd)
        self.size = self._opened_stat.st_size
        if not stat.S_ISREG(self._opened_stat.st_mode):
            self.close()
            raise ReleaseRefused(f"{self.name} is no regular file.")
        if self.size > most_bytes:
            self.close()
            problem = f"{self.name} has {self.size >> 20} MiB; at most {most_bytes >> 20} are read."
            raise ReleaseRefused(problem, shown=ShownAs.of("page-wrong-look-large"))

    @property
    def owner(self) -> str:
        """The name of the user to whom the file belongs; the number of one without a name."""
        try:
            return pwd.getpwuid(self._opened_stat.st_uid).pw_name
        except KeyError:
            return str(self._opened_stat.st_uid)

    def read(self, at: int, count: int) -> bytes:
        """Exactly `count` bytes from offset `at`. Raises ReleaseRefused if the file ends before."""
        data = bytearray()
        while len(data) < count:
            try:
                chunk = os.pread(self._fd, count - len(data), at + len(data))
            except OSError as error:
                raise ReleaseRefused(f"{self.name} cannot be read ({error.strerror}).") from error
            if not chunk:
                raise ReleaseRefused(f"{self.name} became shorter while it was read.")
            data += chunk
        return bytes(data)

    def chunks(self, at: int, size: int, count: int = CHUNK) -> Iterator[bytes]:
        """Yield `size` bytes from offset `at`, `count` at a time. Raises ReleaseRefused like
        `read`."""
        for begin in range(at, at + size, count):
            yield self.read(begin, min(count, at + size - begin))

    def remove(self) -> None:
        """Unlink `path` if it still names this file; another file under that name stays."""
        with contextlib.suppress(OSError):  # the work is done: a file that stays is not a failure
            if os.path.samestat(self.path.lstat(), self._opened_stat):
                self.path.unlink()

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> HandedOverFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_handed_over(
    file: Path | HandedOverFile, most_bytes: int
) -> AbstractContextManager[HandedOverFile]:
    """A context manager for `file`: opens a path, and leaves a file that is open already open.

    Raises ReleaseRefused."""
    return (
        nullcontext(file) if isinstance(file, HandedOverFile) else HandedOverFile(file, most_bytes)
    )


def pop_note(note: Path) -> str:
    """Return the line in a note and remove the note, so that a failed request is not repeated.

    Returns "" if there is no note, or if it is not a regular file with at most NOTE_BYTES of UTF-8.
    Raises StorageError if the note cannot be removed.
    """
    return pop_owned_note(note)[0]


def pop_owned_note(note: Path) -> tuple[str, str]:
    """Like `pop_note`; also returns the name of the user who wrote the note."""
    try:
        with HandedOverFile(note, NOTE_BYTES) as file:
            return file.read(0, file.size).decode("utf-8").strip(), file.owner
    except (ReleaseRefused, UnicodeDecodeError):
        return "", ""
    finally:
        _remove_note(note)


def write_note(note: Path, line: str) -> None:
    """Write a note for `pop_note`, by an atomic rename. Raises OSError, also for a sticky folder
    whose note belongs to another user.

    The temporary name is new each time: in a sticky folder (inode(7), S_ISVTX) a leftover of
    another user under a fixed name could never be replaced.
    """
    fd, temporary = tempfile.mkstemp(prefix=f".{note.name}.", dir=note.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, 0o644)
            file.write(line.encode())
        Path(temporary).rename(note)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _remove_note(note: Path) -> None:
    """Remove a note; a folder under its name is renamed.

    A folder may hold anything, and other users may add to it meanwhile: emptying it could go on for
    ever, while the rename is one step. The renamed folder stays with its owner."""
    try:
        try:
            note.unlink(missing_ok=True)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EPERM):  # EPERM: a folder, as in POSIX
                raise
            note.rename(note.with_name(f".{note.name}.refused-{secrets.token_hex(8)}"))
    except FileNotFoundError:
        return
    except OSError as error:
        problem = f"{note} cannot be removed ({error.strerror})."
        raise StorageError(problem, "Remove it by hand.") from error
