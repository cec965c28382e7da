"""Channels: messages between two processes over a SOCK_SEQPACKET pair. Nobody ever waits."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Iterator

from appliance.errors import BadMessage
from appliance.messages.limits import MAX_BYTES, cut
from appliance.messages.registry import Mail, decode, encode

# Below this many bytes of msgpack no text is longer than the shortest limit of messages/limits.py.
SURELY_SHORT_BYTES = 100
# What send(2) answers when it cannot take a datagram now, or never (EMSGSIZE).
_NOT_TAKEN = {
    errno.EAGAIN, errno.EPIPE, errno.ECONNRESET, errno.ENOBUFS, errno.ENOMEM, errno.EMSGSIZE,
}  # fmt: skip
_log = logging.getLogger("channel")


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends. The supervisor keeps both, so a restarted process finds its mail."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setblocking(False)
    return ends


class Channel:
    """One end. What the other side's full mailbox refuses is gone."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._told: set[str] = set()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Mail) -> bool:
        """Post one message. False if it could not be taken: the other side is not reading, or the
        message is none. It never raises, whatever the fields hold: texts and lists that are longer
        than messages/limits.py allows are cut to that."""
        data = self._fitting(message)
        if data is None:
            return False
        try:
            self._socket.send(data)
        except OSError as error:
            if error.errno not in _NOT_TAKEN:
                raise  # a descriptor that is no socket: a mistake of ours
            return False
        return True

    def _fitting(self, message: Mail) -> bytes | None:
        """What goes out: bytes that the other side will take. None if there are none."""
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
        if name not in self._told:
            self._told.add(name)
            what = "was not sent" if data is None else "was cut to fit"
            _log.warning("a %s %s: %s", name, what, problem)
        return data

    def receive(self) -> Mail | None:
        """The next message, or None. Raises BadMessage, and goes on after it, for anything else."""
        try:
            data = self._socket.recv(MAX_BYTES + 1)
        except (BlockingIOError, ConnectionResetError):
            return None
        return decode(data) if data else None

    def receive_all(self, bad: list[BadMessage] | None = None) -> Iterator[Mail]:
        """All that has arrived; what is malformed goes to `bad` (or nowhere) and is skipped."""
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
