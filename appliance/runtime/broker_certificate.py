"""The certificate of the broker that the box remembers, if the owner names no authority for it.

One record in the state folder. The link writes it (mqtt/pinned_tls.py); the page shows a
certificate that the link has refused, and accepts it for the owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.background_file import write_private
from appliance.errors import LinkError, ShownAs
from appliance.record_file import load_record
from appliance.settings import Settings

FILE = "broker/broker-certificate.json"


class CertificatePin(msgspec.Struct, frozen=True):
    """`place`: host and port of the broker. `sha256`: of the certificate in DER, in hex; "": it may
    be any that an authority of the system vouches for. `refused`: of another one that the broker
    has shown since; "": none."""

    place: str
    sha256: str = ""
    refused: str = ""


@dataclass(frozen=True)
class CertificatePins:
    """The record in `file`."""

    file: Path

    @classmethod
    def of(cls, settings: Settings) -> CertificatePins:
        return cls(settings.state_path() / FILE)

    def load(self, place: str) -> CertificatePin | None:
        """The record of the broker at `place`; None if there is none. Raises LinkError if the file
        cannot be read: another certificate must not be accepted for that reason."""
        pin, problem = load_record(self.file, CertificatePin)
        if problem:
            shown = ShownAs.of("page-wrong-broker-pin-read", file=str(self.file))
            raise LinkError(f"{problem}.", f"Delete {self.file}.", shown=shown)
        return pin if pin is not None and pin.place == place else None

    def stored(self) -> CertificatePin | None:
        """The record, of whatever broker. An unusable file counts as none."""
        return load_record(self.file, CertificatePin)[0]

    def save(self, pin: CertificatePin) -> None:
        """Raises LinkError."""
        try:
            write_private(self.file, msgspec.json.encode(pin))
        except OSError as error:
            why = error.strerror or ""
            shown = ShownAs.of("page-wrong-broker-pin-write", why=why)
            problem = f"The broker's certificate cannot be remembered ({why})."
            raise LinkError(problem, "Is there room on the card?", shown=shown) from error


def in_pairs(sha256: str) -> str:
    """A fingerprint as `openssl x509 -fingerprint -sha256` prints it."""
    return ":".join(sha256[at : at + 2] for at in range(0, len(sha256), 2)).upper()
