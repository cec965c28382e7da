"""What somebody without rights hands over: a file, or a note in a folder that others may write.

A name in such a folder proves nothing. Between two uses of it the file may become a FIFO, whose
open(2) waits without end, a link to elsewhere, a folder, a sparse file of terabytes, or another
file. So a name is opened once, what was opened is known by fstat(2) before it is read, and from
then on only the descriptor counts. The bytes may still change: who keeps or runs something of them
copies first, or hashes what is used while it is used. Used for releases, systems and notes.
"""

from __future__ import annotations

import contextlib
import errno
import os
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
NOTE_BYTES = 255  # of a note: a file's name is no longer (NAME_MAX)


class HandedOverFile:
    """A regular file of at most so many bytes, opened once. Closed by `close`, or as a context.

    `size`: in bytes, when it was opened.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        """Returns at once, whatever lies at `path`. Raises ReleaseRefused for what is no regular
        file, is larger than `most_bytes`, or cannot be opened."""
        self.path, self.name = path, path.name
        try:
            self._fd = os.open(path, ONCE)
        except OSError as error:
            if error.errno == errno.ELOOP:
                problem = f"{self.name} is a link."
                raise ReleaseRefused(problem, "Name the file itself.") from error
            raise ReleaseRefused(f"{path} cannot be read ({error.strerror}).") from error
        self._known = os.fstat(self._fd)
        self.size = self._known.st_size
        if not stat.S_ISREG(self._known.st_mode):
            self.close()
            raise ReleaseRefused(f"{self.name} is no regular file.")
        if self.size > most_bytes:
            self.close()
            problem = f"{self.name} has {self.size >> 20} MiB; at most {most_bytes >> 20} are read."
            raise ReleaseRefused(problem, shown=ShownAs.of("page-wrong-look-large"))

    def read(self, at: int, count: int) -> bytes:
        """Exactly `count` bytes from `at` on. Raises ReleaseRefused where it ends before."""
        found = bytearray()
        while len(found) < count:
            try:
                piece = os.pread(self._fd, count - len(found), at + len(found))
            except OSError as error:
                raise ReleaseRefused(f"{self.name} cannot be read ({error.strerror}).") from error
            if not piece:
                raise ReleaseRefused(f"{self.name} became shorter while it was read.")
            found += piece
        return bytes(found)

    def chunks(self, at: int, size: int, count: int = CHUNK) -> Iterator[bytes]:
        """`size` bytes from `at` on, `count` at a time. Raises ReleaseRefused like `read`."""
        for begin in range(at, at + size, count):
            yield self.read(begin, min(count, at + size - begin))

    def remove(self) -> None:
        """Take its name away, if that still leads to this file; anything else there stays."""
        with contextlib.suppress(OSError):  # what is done is done: a file that stays is no failure
            if os.path.samestat(self.path.lstat(), self._known):
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
    """`file` as it is if it is open already, and then it stays open. Raises ReleaseRefused."""
    return (
        nullcontext(file) if isinstance(file, HandedOverFile) else HandedOverFile(file, most_bytes)
    )


def pop_note(note: Path) -> str:
    """The line in a note, which is gone afterwards, so that a failure is not repeated.

    "" if there is none, or something there that is no text of at most NOTE_BYTES in a regular file.
    Raises StorageError if it cannot be taken away.
    """
    try:
        with HandedOverFile(note, NOTE_BYTES) as handed:
            return handed.read(0, handed.size).decode("utf-8").strip()
    except (ReleaseRefused, UnicodeDecodeError):
        return ""
    finally:
        _take_away(note)


def write_note(note: Path, line: str) -> None:
    """Leave a note for `pop_note`, whole from the first moment. Raises OSError, also where another
    user's note lies there in a sticky folder.

    The name that it is written under is new each time: a leftover of another user could not be
    replaced in such a folder (inode(7), S_ISVTX), and would be in the way for ever.
    """
    fd, fresh = tempfile.mkstemp(prefix=f".{note.name}.", dir=note.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, 0o644)
            file.write(line.encode())
        Path(fresh).rename(note)
    except OSError:
        Path(fresh).unlink(missing_ok=True)
        raise


def _take_away(note: Path) -> None:
    """A folder under this name may hold anything and be filled meanwhile: it is not emptied but
    renamed, which is one step, and stays with whoever made it."""
    try:
        try:
            note.unlink(missing_ok=True)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EPERM):  # EPERM: POSIX's word for a folder
                raise
            note.rename(note.with_name(f".{note.name}.refused-{secrets.token_hex(8)}"))
    except FileNotFoundError:
        return
    except OSError as error:
        problem = f"{note} cannot be removed ({error.strerror})."
        raise StorageError(problem, "Remove it by hand.") from error
