"""One upload at a time, streamed into a file of mode 0600, with a hard limit.

What does not come to its end leaves nothing behind: the file may hold words, and is overwritten.
The form is multipart (RFC 7578): the token, then the file; anything else is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from appliance.page.requests import Reply, plain
from appliance.runtime.secure_erase import erase

OVERHEAD_BYTES = 4096  # of the form around the file
UPLOAD_S = 120.0  # for all of it: 50 kB a second
_BOUNDARY = re.compile(r"^multipart/form-data;\s*boundary=\"?([\w'()+,./:=?-]{1,70})\"?$", re.ASCII)
_NAME = re.compile(rb'^content-disposition: form-data; name="(\w+)"', re.IGNORECASE | re.MULTILINE)


class Upload:
    """`done`: what answers, with the fields of the form, or None if it is no such form."""

    def __init__(
        self,
        file: Path,
        boundary: str,
        most_bytes: int,
        done: Callable[[dict[str, bytes] | None], Reply],
        ended: Callable[[], None],
    ) -> None:
        """Raises OSError."""
        self.most_body = most_bytes + OVERHEAD_BYTES
        self.seconds = UPLOAD_S
        self._file, self._boundary, self._done, self._ended = file, boundary, done, ended
        self._size = 0
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        erase([file])  # of a page that died
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd: int | None = os.open(file, flags, 0o600)

    def write(self, data: bytes) -> bool:
        """More of it. False beyond the limit, or where the card takes no more."""
        self._size += len(data)
        if self._fd is None or self._size > self.most_body:
            return False
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:
            return False
        return True

    def finish(self) -> Reply:
        """All of it has come."""
        try:
            whole = self._file.read_bytes()
        except OSError:
            whole = b""
        self.close()
        return self._done(_fields(whole, self._boundary.encode()))

    def close(self) -> None:
        """Nothing of it is left. Also in the middle, and again."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            erase([self._file])
            self._ended()


def boundary_of(content_type: str) -> str:
    """Of a multipart form; "" for anything else."""
    found = _BOUNDARY.match(content_type.strip())
    return found[1] if found else ""


def refused(status: int) -> Reply:
    return plain(status, "This upload is refused.")


def _fields(body: bytes, boundary: bytes) -> dict[str, bytes] | None:
    """Each field once; None for what is no form of few fields."""
    begin, end = b"--" + boundary + b"\r\n", b"\r\n--" + boundary + b"--"
    body = body.removesuffix(b"\r\n")
    if not (body.startswith(begin) and body.endswith(end)):
        return None
    found: dict[str, bytes] = {}
    for part in body[len(begin) : -len(end)].split(b"\r\n" + begin, 3):
        head, gap, content = part.partition(b"\r\n\r\n")
        name = _NAME.match(head)
        if name is None or not gap or len(head) > 1000 or name[1].decode() in found:
            return None
        found[name[1].decode()] = content
    return found
