"""Channels: messages between two processes over a SOCK_SEQPACKET pair, without blocking."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Iterator

from appliance.errors import BadMessage
from appliance.messages.limits import MAX_BYTES, cut
from appliance.messages.registry import Mail, decode, encode

# In fewer bytes of msgpack no text can exceed the shortest limit of messages/limits.py.
SURELY_SHORT_BYTES = 100
# Errors of send(2) for a datagram that it cannot take now, or never (EMSGSIZE).
_NOT_TAKEN = {
    errno.EAGAIN, errno.EPIPE, errno.ECONNRESET, errno.ENOBUFS, errno.ENOMEM, errno.EMSGSIZE,
}  # fmt: skip
_log = logging.getLogger("channel")


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends. The supervisor keeps both open, for a restarted process."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setblocking(False)
    return ends


class Channel:
    """One end. A message that the peer's full receive buffer refuses is dropped."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._logged_kinds: set[str] = set()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Mail) -> bool:
        """Send one message. False if it was dropped: the peer does not read, or the message cannot
        be encoded. Never raises because of a field's value: texts and lists that are longer than
        messages/limits.py allows are cut."""
        data = self._fitting(message)
        if data is None:
            return False
        try:
            self._socket.send(data)
        except OSError as error:
            if error.errno not in _NOT_TAKEN:
                raise  # not a socket: a bug
            return False
        return True

    def _fitting(self, message: Mail) -> bytes | None:
        """The encoded message, cut if necessary so that the peer can decode it; None if
        impossible."""
        try:
            data = encode(message)
            if len(data) > SURELY_SHORT_BYTES:
                decode(data)
        except (BadMessage, TypeError, ValueError, OverflowError) as error:
            return self._cut(message, str(error))
        return data if len(data) <= MAX_BYTES else self._cut(message, f"{len(data)} bytes")

    def _cut(self, message: Mail, problem: str) -> bytes | None:
        data: bytes | None = None
        try:
            shorter = encode(cut(message))
            decode(shorter)
            data = shorter if len(shorter) <= MAX_BYTES else None
        except (BadMessage, TypeError, ValueError, OverflowError) as error:
            problem = str(error)
        name = type(message).__name__
        if name not in self._logged_kinds:
            self._logged_kinds.add(name)
            what = "was not sent" if data is None else "was cut to fit"
            _log.warning("a %s %s: %s", name, what, problem)
        return data

    def receive(self) -> Mail | None:
        """The next message, or None. Raises BadMessage for other bytes, which it consumes."""
        try:
            data = self._socket.recv(MAX_BYTES + 1)
        except (BlockingIOError, ConnectionResetError):
            return None
        return decode(data) if data else None

    def receive_all(self, bad: list[BadMessage] | None = None) -> Iterator[Mail]:
        """All messages that have arrived. Malformed ones are skipped; their errors are added to
        `bad`."""
        while True:
            try:
                message = self.receive()
            except BadMessage as error:
                if bad is not None:
                    bad.append(error)
                continue
            if message is None:
                return
            yield message
