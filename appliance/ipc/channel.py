"""Channels: messages between two processes over a SOCK_SEQPACKET pair. Nobody ever waits."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from appliance.errors import BadMessage
from appliance.messages import Mail, decode, encode

MAX_BYTES = 60_000  # one datagram; well under the default socket buffer of 208 KiB


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends. The supervisor keeps both, so a restarted process finds its mail."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setblocking(False)
    return ends


class Channel:
    """One end. `dropped` counts messages that the other side's full mailbox refused."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self.dropped = 0

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Mail) -> bool:
        """Post one message. False if it could not be taken: the other side is not reading."""
        data = encode(message)
        if len(data) > MAX_BYTES:
            raise BadMessage(f"A {type(message).__name__} of {len(data)} bytes is too large.")
        try:
            self._socket.send(data)
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            self.dropped += 1
            return False
        return True

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
