"""TLS of one connection, without its socket: the network's bytes in, the browser's out, and back.

asyncio's own TLS tells a protocol of a connection only after the handshake; a connection that never
makes one would count for nothing in the server's limits.
"""

from __future__ import annotations

import ssl

READ_BYTES = 65_536


class TlsPipe:
    """The server's end. Raises ssl.SSLError for bytes that are no TLS, or none that it takes."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._arrived, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._to_send, server_side=True)
        self._shaken = False

    def decrypt(self, data: bytes) -> bytes:
        """What the browser said with that, and with what came before; b"" if more is to come."""
        self._arrived.write(data)
        said = bytearray()
        try:
            if not self._shaken:
                self._tls.do_handshake()
                self._shaken = True
            while part := self._tls.read(READ_BYTES):
                said += part
        except ssl.SSLWantReadError:
            pass
        return bytes(said)

    def encrypt(self, data: bytes) -> None:
        """After the handshake: what the browser is to be told (pop_outgoing)."""
        self._tls.write(data)

    def close(self) -> None:
        """Say that nothing more comes."""
        if self._shaken:
            try:
                self._tls.unwrap()
            except ssl.SSLError:
                return  # the browser has not said so itself, and need not

    def pop_outgoing(self) -> bytes:
        """Bytes for the network."""
        return self._to_send.read()
