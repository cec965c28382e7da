"""TLS with a broker for which the owner names no authority: trust on first use.

At the first connection the box finds out whether an authority of the system vouches for the
broker's certificate and name. If so, that is required from then on. If not, as with a certificate
that the owner has made himself, the box remembers the certificate, and accepts another one only if
an authority vouches for it, or the owner accepts it.
"""

from __future__ import annotations

import hashlib
import socket
import ssl
from typing import Any, Protocol

import msgspec

from appliance.errors import LinkError, ShownAs
from appliance.runtime.broker_certificate import FILE, CertificatePin, in_pairs

_OUT_OF_TIME = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID, …_HAS_EXPIRED of openssl/x509_vfy.h


class Pins(Protocol):
    """Where the certificate is remembered. Both raise LinkError."""

    def load(self, place: str) -> CertificatePin | None: ...
    def save(self, pin: CertificatePin) -> None: ...


class PinnedTls(ssl.SSLContext):
    """A context that accepts only the remembered certificate of one broker.

    The check ends within the handshake, before anything is sent. Unless a certificate is pinned and
    has not been refused, `wrap_socket` opens one more connection, and blocks for as long as the
    socket's timeout allows.
    """

    strict: ssl.SSLContext
    place: str
    pins: Pins

    @classmethod
    def over(cls, strict: ssl.SSLContext, place: str, pins: Pins) -> PinnedTls:
        """`strict`: a context that requires an authority of the system."""
        made = cls(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
        made.minimum_version = strict.minimum_version
        made.sslsocket_class = _PinnedSocket
        made.strict, made.place, made.pins = strict, place, pins
        return made

    def wrap_socket(self, sock: socket.socket, *args: Any, **options: Any) -> ssl.SSLSocket:
        """Raises LinkError, OSError."""
        pin = self.pins.load(self.place)
        pinned = pin is not None and pin.sha256 and not pin.refused
        host = str(options.get("server_hostname") or "")
        if not pinned and self._is_vouched_for(sock, host):
            if pin != CertificatePin(self.place):
                self.pins.save(CertificatePin(self.place))
            return self.strict.wrap_socket(sock, *args, **options)
        return super().wrap_socket(sock, *args, **options)

    def check(self, certificate: bytes) -> None:
        """Compare the broker's certificate (DER) with the remembered one. Raises LinkError."""
        found = hashlib.sha256(certificate).hexdigest()
        pin = self.pins.load(self.place)
        if pin is None:
            self.pins.save(CertificatePin(self.place, found))
        elif pin.sha256 != found:
            if pin.refused != found:
                self.pins.save(msgspec.structs.replace(pin, refused=found))
            shown = ShownAs.of("page-wrong-broker-changed", at=self.place, sha256=in_pairs(found))
            raise LinkError(
                f"The broker at {self.place} shows another certificate than before "
                f"(SHA-256 {in_pairs(found)}).",
                "If you have changed it, accept it on the box's page (Set), or delete "
                f"{FILE} in the box's state folder; else another machine answers.",
                shown=shown,
            )

    def _is_vouched_for(self, sock: socket.socket, host: str) -> bool:
        """Whether an authority of the system vouches for the broker, by a handshake over a
        connection of its own. Raises OSError, also for a certificate whose time has not come or is
        over: the box's clock may not be set yet."""
        with socket.socket(sock.family) as probe:
            probe.settimeout(sock.gettimeout())
            probe.connect(sock.getpeername())
            try:
                self.strict.wrap_socket(probe, server_hostname=host).close()
            except ssl.SSLCertVerificationError as error:
                if error.verify_code in _OUT_OF_TIME:
                    raise
                return False
        return True


class _PinnedSocket(ssl.SSLSocket):
    def do_handshake(self, block: bool = False) -> None:
        super().do_handshake(block)
        assert isinstance(self.context, PinnedTls)
        self.context.check(self.getpeercert(binary_form=True) or b"")
