"""Loads and checks the owner's certificate for the page; raises an error with a sentence.

The check is a TLS handshake in memory, as a browser would do it: the key matches, the certificate
may be used for a server, and it is within its period of validity. The issuer is not checked; that
is left to the browser.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.errors import PageError, ShownAs
from appliance.settings import PageSettings

CREDENTIAL = "page-key"  # its name in the unit: LoadCredential=page-key:/path
HANDSHAKE_ROUNDS = 8  # TLS 1.2 and 1.3 take three
RENEW_S = 14 * 86_400  # before its expiry the owner is warned

# X509_V_ERR_… of OpenSSL (x509_vfy.h)
_NOT_YET, _EXPIRED, _PURPOSE = 9, 10, 26
_WHY = {
    _NOT_YET: "is not valid yet: it is younger than the box's clock",
    _EXPIRED: "has expired",
    _PURPOSE: "is not one for servers (extendedKeyUsage)",
}


@dataclass(frozen=True)
class PageCertificate:
    """A checked certificate. `names`: its host names; `until_s`: its expiry, since 1970."""

    context: ssl.SSLContext
    names: tuple[str, ...]
    self_signed: bool
    until_s: float


def load_certificate(
    page: PageSettings, environment: Mapping[str, str] = os.environ
) -> PageCertificate | None:
    """Load the certificate of the settings; None if they name none. Raises PageError for a file
    that is missing or has the wrong content, a key that other users may read, or a certificate that
    browsers would reject today."""
    if not page.certificate:
        return None
    certificate = Path(page.certificate).expanduser()
    _readable(certificate, "certificate", "`page.certificate`")
    key = _key(page, environment)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    try:
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError, OSError) as error:
        raise PageError(
            f"The page's certificate {certificate} and its key do not belong together, or are not "
            "PEM.",
            "Name the two in `page.certificate` and `page.key`; the key without a passphrase.",
            shown=ShownAs.of("page-wrong-certificate-pair"),
        ) from error
    peer = _handshake(context, certificate)
    names = tuple(str(entry[1]) for entry in peer.get("subjectAltName", ()))
    return PageCertificate(
        context,
        names,
        self_signed=peer["issuer"] == peer["subject"],
        until_s=ssl.cert_time_to_seconds(peer["notAfter"]),
    )


def stamp(
    page: PageSettings, environment: Mapping[str, str] = os.environ
) -> tuple[tuple[int, int], ...]:
    """Modification times and inodes of the two files, to detect changes; () without certificate."""
    if not page.certificate:
        return ()
    stamps = []
    for path in (Path(page.certificate).expanduser(), *_key_paths(page, environment)):
        try:
            status = path.stat()
        except OSError:
            stamps.append((0, 0))
        else:
            stamps.append((status.st_mtime_ns, status.st_ino))
    return tuple(stamps)


def _key(page: PageSettings, environment: Mapping[str, str]) -> Path:
    for path in _key_paths(page, environment):
        status = _readable(path, "key", "`page.key`")
        if page.key and stat.S_IMODE(status.st_mode) & 0o077:
            mode = stat.S_IMODE(status.st_mode)
            problem = f"Others may read the key of the page's certificate in {path} ({mode:04o})."
            shown = ShownAs.of("page-wrong-certificate-open")
            raise PageError(problem, f"chmod 600 {path}", shown=shown)
        if page.key or status.st_size > 1:  # the unit's placeholder for a missing key is a newline
            return path
    raise PageError(
        "The page's certificate has no key.",
        f"Write it to /etc/interlude/secrets/{CREDENTIAL} (mode 0600) and restart the box, or name "
        "a file in `page.key`.",
        shown=ShownAs.of("page-wrong-certificate-keyless"),
    )


def _key_paths(page: PageSettings, environment: Mapping[str, str]) -> list[Path]:
    if page.key:
        return [Path(page.key).expanduser()]
    folder = environment.get("CREDENTIALS_DIRECTORY")
    credential = Path(folder, CREDENTIAL) if folder else None  # systemd sets its permissions
    return [credential] if credential is not None and credential.exists() else []


def _readable(path: Path, what: str, setting: str) -> os.stat_result:
    try:
        status = path.stat()
        with path.open("rb"):
            return status
    except OSError as error:
        raise PageError(
            f"The page's {what} {path} cannot be read ({error.strerror}).",
            f"Write it there, readable by the user that Interlude runs as, or change {setting}.",
            shown=ShownAs.of("page-wrong-certificate-unread", file=path.name),
        ) from error


def _handshake(context: ssl.SSLContext, certificate: Path) -> dict[str, Any]:
    """Do a handshake in memory; return the certificate as a client sees it. Raises PageError."""
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # accept any issuer
    try:
        client_context.load_verify_locations(certificate)
        to_server, to_browser = ssl.MemoryBIO(), ssl.MemoryBIO()
        server = context.wrap_bio(to_server, to_browser, server_side=True)
        client = client_context.wrap_bio(to_browser, to_server)
        for _ in range(HANDSHAKE_ROUNDS):
            for side in (client, server):
                try:
                    side.do_handshake()
                except ssl.SSLWantReadError:
                    continue
    except ssl.SSLCertVerificationError as error:
        why = _WHY.get(error.verify_code, f"cannot be used ({error.verify_message})")
        raise PageError(
            f"The page's certificate {certificate} {why}.",
            "Have a new one issued, and write it there; look at the box's clock, too.",
            shown=ShownAs.of("page-wrong-certificate-bad"),
        ) from error
    except ssl.SSLError as error:
        raise PageError(
            f"The page's certificate {certificate} cannot be used ({error.reason}).",
            "Have a new one issued, and write it there.",
            shown=ShownAs.of("page-wrong-certificate-bad"),
        ) from error
    return dict(client.getpeercert() or {})
