"""One upload at a time, streamed into a file of mode 0600, with a hard size limit.

The file is always overwritten and deleted at the end, also after an interrupted upload, since it
may contain private text. The form is multipart (RFC 7578): the token, then the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from appliance.page.requests import Reply, plain
from appliance.runtime.secure_erase import erase

OVERHEAD_BYTES = 4096  # of the form around the file
UPLOAD_S = 120.0  # for the complete upload: 50 kB a second
_BOUNDARY = re.compile(r"^multipart/form-data;\s*boundary=\"?([\w'()+,./:=?-]{1,70})\"?$", re.ASCII)
_NAME = re.compile(rb'^content-disposition: form-data; name="(\w+)"', re.IGNORECASE | re.MULTILINE)


class Upload:
    """`done`: called with the fields of the form, or None if it is not valid; returns the reply.
    `ended`: called once when the file has been deleted."""

    def __init__(
        self,
        file: Path,
        boundary: str,
        most_bytes: int,
        done: Callable[[dict[str, bytes] | None], Reply],
        ended: Callable[[], None],
    ) -> None:
        """Create the file. Raises OSError."""
        self.most_body = most_bytes + OVERHEAD_BYTES
        self.seconds = UPLOAD_S
        self._file, self._boundary, self._done, self._ended = file, boundary, done, ended
        self._size = 0
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        erase([file])  # left by a page process that died
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd: int | None = os.open(file, flags, 0o600)

    def write(self, data: bytes) -> bool:
        """Append received bytes. False beyond the limit or if the SD card cannot be written."""
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
        """Parse the complete upload and return the reply."""
        try:
            body = self._file.read_bytes()
        except OSError:
            body = b""
        self.close()
        return self._done(_fields(body, self._boundary.encode()))

    def close(self) -> None:
        """Overwrite and delete the file. May be called at any time and repeatedly."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            erase([self._file])
            self._ended()


def boundary_of(content_type: str) -> str:
    """Boundary of a multipart form; "" for any other type."""
    found = _BOUNDARY.match(content_type.strip())
    return found[1] if found else ""


def refused(status: int) -> Reply:
    return plain(status, "This upload is refused.")


def _fields(body: bytes, boundary: bytes) -> dict[str, bytes] | None:
    """Parse the fields of a form; None for an invalid form, a repeated field or too many fields."""
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
