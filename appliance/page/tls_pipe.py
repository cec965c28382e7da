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
        self._arrived, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._to_send, server_side=True)
        self._shaken = False

    def decrypt(self, data: bytes) -> bytes:
        """Add received bytes. Returns decrypted bytes; b"" if more input is needed."""
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
        """Encrypt bytes for the browser, after the handshake; see `pop_outgoing`."""
        self._tls.write(data)

    def close(self) -> None:
        """Send a close_notify alert."""
        if self._shaken:
            try:
                self._tls.unwrap()
            except ssl.SSLError:
                return  # the browser has not sent its own close_notify, which is allowed

    def pop_outgoing(self) -> bytes:
        """Return the encrypted bytes to send."""
        return self._to_send.read()
