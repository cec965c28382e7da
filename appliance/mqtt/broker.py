"""Address, login and TLS context of the owner's broker. In: settings. Out: a `Broker`, or an error
that names the fault in the owner's files."""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.errors import LinkError, ShownAs
from appliance.mqtt.pinned_tls import PinnedTls, Pins
from appliance.runtime import network_status
from appliance.settings import LinkSettings

CREDENTIAL = "mqtt-password"  # its name in the unit: LoadCredential=mqtt-password:/path
SECRET = Path("/etc/interlude/secrets") / CREDENTIAL  # the source file that the unit names
REREAD_S = 60.0  # between two readings of secrets and certificates


@dataclass(frozen=True)
class Broker:
    """Address of the broker and the box's login."""

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


def broker(
    link: LinkSettings,
    environment: Mapping[str, str] = os.environ,
    secret: Path = SECRET,
    network: Path = network_status.FOLDER,
    pins: Pins | None = None,
) -> Broker:
    """Build the `Broker` from the settings. Raises LinkError for a secret that other users may
    read, a file that is missing or has the wrong content, and in an unconfirmed Wi-Fi.

    `secret` is read where systemd's credentials are absent, as for root at a shell. `network`: the
    folder of the network status. `pins`: where the broker's certificate is remembered if the owner
    names no authority; without it an authority of the system is required.
    """
    refuse_unconfirmed(network)
    tls = _tls(link) if link.tls else None
    made = Broker(
        link.broker, link.usual_port, link.user, _password(link, environment, secret), tls
    )
    if tls is None or pins is None or link.ca_file:
        return made
    pinned = PinnedTls.over(tls, made.place, pins)
    _load_own_certificate(link, pinned)
    return replace(made, tls=pinned)


@dataclass
class OwnersBroker:
    """The broker of the settings, reread after REREAD_S, as a password may have been corrected. Not
    read at each attempt: the system's CA certificates alone take 30 ms. `network`, `pins`: as in
    `broker`."""

    link: LinkSettings
    network: Path = network_status.FOLDER
    pins: Pins | None = None
    _broker: Broker | None = None
    _read_s: float = 0.0

    def read(self, now_s: float) -> Broker:
        """Raises LinkError, as `broker`."""
        refuse_unconfirmed(self.network)
        if self._broker is None or now_s - self._read_s > REREAD_S:
            made = broker(self.link, network=self.network, pins=self.pins)
            self._broker, self._read_s = made, now_s
        return self._broker

    def forget(self) -> None:
        """Read the owner's files again at the next attempt."""
        self._broker = None


def refuse_unconfirmed(network: Path = network_status.FOLDER) -> None:
    """Raise LinkError in a Wi-Fi that the owner has not confirmed (provision/setup_changes.py).
    Whoever has opened it may answer there to the broker's name."""
    if wifi := network_status.read_status(network).unconfirmed:
        raise LinkError(
            f"The box is in the Wi-Fi {wifi}, which its owner has not confirmed; it connects to no "
            "broker there.",
            "Confirm it on the box's page (Set, Wi-Fi and time zone), or hold the button at "
            "power-on and type your Wi-Fi again.",
            shown=ShownAs.of("page-wrong-unconfirmed", wifi=wifi),
        )


def _password(link: LinkSettings, environment: Mapping[str, str], secret: Path) -> str:
    if link.password_file:
        path = Path(link.password_file).expanduser()
        _only_ours(path, "password", "`link.password_file`")
        return _text(path, "password")
    if folder := environment.get("CREDENTIALS_DIRECTORY"):
        path = Path(folder) / CREDENTIAL  # systemd sets its permissions: no check here
        if path.exists():
            return _text(path, "password")
    elif os.access(secret, os.R_OK):
        _only_ours(secret, "password", "it")
        return _text(secret, "password")
    return ""


def _tls(link: LinkSettings) -> ssl.SSLContext:
    if link.ca_file:
        _there(Path(link.ca_file).expanduser(), "certificate of the authority", "`link.ca_file`")
    try:
        context = ssl.create_default_context(
            cafile=str(Path(link.ca_file).expanduser()) if link.ca_file else None
        )
    except (ssl.SSLError, OSError) as error:
        raise LinkError(f"{link.ca_file}: holds no certificate (PEM).",
                        "Give the authority's, not the broker's key.") from error  # fmt: skip
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load_own_certificate(link, context)
    return context


def _load_own_certificate(link: LinkSettings, context: ssl.SSLContext) -> None:
    """Raises LinkError."""
    if link.certificate_file:
        certificate, key = (Path(p).expanduser() for p in (link.certificate_file, link.key_file))
        _there(certificate, "box's certificate", "`link.certificate_file`")
        if link.key_file:
            _only_ours(key, "key", "`link.key_file`")
        try:
            context.load_cert_chain(certificate, key if link.key_file else None, password="")
        except (ssl.SSLError, ValueError, OSError) as error:
            raise LinkError(
                f"{certificate} and its key do not belong together, or are not PEM.",
                "Name the two in `link.certificate_file` and `link.key_file`; the key without "
                "a passphrase.",
            ) from error


def _there(path: Path, what: str, setting: str) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise LinkError(f"The {what} {path} cannot be found ({error.strerror}).",
                        f"Write it there, or change {setting}.") from error  # fmt: skip


def _only_ours(path: Path, what: str, setting: str) -> None:
    mode = stat.S_IMODE(_there(path, what, setting).st_mode)
    if mode & 0o077:
        raise LinkError(f"Others may read the {what} in {path} (mode {mode:04o}).",
                        f"chmod 600 {path}")  # fmt: skip


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise LinkError(
            f"The {what} in {path} cannot be read ({error.strerror}).",
            "It must belong to the user that Interlude runs as.",
        ) from error
    except UnicodeDecodeError as error:
        raise LinkError(f"The {what} in {path} is not UTF-8 text.") from error
