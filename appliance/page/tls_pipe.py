"""TLS of one connection without its socket: encrypts and decrypts bytes in memory.

asyncio's TLS calls `connection_made` only after the handshake, so connections without a handshake
would not count towards the server's limits.
"""

from __future__ import annotations

import ssl

READ_BYTES = 65_536


class TlsPipe:
    """The server's end. Raises ssl.SSLError for bytes that are not TLS or are rejected."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._handshake_done = False

    def decrypt(self, data: bytes) -> bytes:
        """Add received bytes. Returns decrypted bytes; b"" if more input is needed."""
        self._incoming.write(data)
        decrypted = bytearray()
        try:
            if not self._handshake_done:
                self._tls.do_handshake()
                self._handshake_done = True
            while chunk := self._tls.read(READ_BYTES):
                decrypted += chunk
        except ssl.SSLWantReadError:
            pass
        return bytes(decrypted)

    def encrypt(self, data: bytes) -> None:
        """Encrypt bytes for the browser, after the handshake; see `pop_outgoing`."""
        self._tls.write(data)

    def close(self) -> None:
        """Send a close_notify alert."""
        if self._handshake_done:
            try:
                self._tls.unwrap()
            except ssl.SSLError:
                return  # the browser has not sent its own close_notify, which is allowed

    def pop_outgoing(self) -> bytes:
        """Return the encrypted bytes to send."""
        return self._outgoing.read()
