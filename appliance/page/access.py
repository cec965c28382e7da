"""The access list of the page: paired browsers, in a file of mode 0600 in the state directory.

The file contains only hashes of the cookies, so reading it does not give access.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from appliance.background_file import write_private
from appliance.record_file import load_record
from appliance.settings import Settings

FILE = "page/page-access.json"
MOST = 32  # browsers; a new one replaces the one that was seen longest ago
UNSEEN_S = 400 * 86_400  # access expires if unused for this long, which is how long cookies live
SEEN_S = 86_400  # between two updates of `seen_s`, so that not every request writes the SD card
# scrypt (RFC 7914) for the passphrase: 8 MiB and about 20 ms of an x86 core per attempt
SCRYPT_N, SCRYPT_R, SCRYPT_P = 8192, 8, 1

log = logging.getLogger("page")


class Browser(msgspec.Struct, frozen=True):
    """A paired browser. `known_by`: SHA-256 of its cookie, in hexadecimal. Times since 1970."""

    id: str
    known_by: str
    name: str
    since_s: float
    seen_s: float


class AccessList(msgspec.Struct, frozen=True):
    """The file's content. `passphrase`: "" or salt and hash, in hexadecimal, separated by a
    colon."""

    version: Literal[1] = msgspec.field(default=1)
    browsers: tuple[Browser, ...] = ()
    passphrase: str = ""


def path(settings: Settings) -> Path:
    return settings.state_path() / FILE


class AccessStore:
    """Reads and writes the access list. `clock`: seconds since 1970."""

    def __init__(self, file: Path, clock: Callable[[], float]) -> None:
        self._file, self._clock = file, clock
        found, problem = load_record(file, AccessList)
        if problem:
            log.warning("%s: every browser has to pair again", problem)
        self._list = found or AccessList()

    @property
    def browsers(self) -> tuple[Browser, ...]:
        return self._list.browsers

    @property
    def has_passphrase(self) -> bool:
        return bool(self._list.passphrase)

    def let_in(self, name: str) -> str:
        """Add a browser. Returns its cookie."""
        cookie, now_s = secrets.token_urlsafe(32), self._clock()
        added = Browser(secrets.token_hex(4), _cookie_hash(cookie), name[:60], now_s, now_s)
        current = [browser for browser in self._list.browsers if now_s - browser.seen_s < UNSEEN_S]
        current = sorted(current, key=lambda browser: browser.seen_s)[-(MOST - 1) :]
        self._write(msgspec.structs.replace(self._list, browsers=(*current, added)))
        return cookie

    def find(self, cookie: str) -> Browser | None:
        """Return the browser of a cookie, or None."""
        if not cookie:
            return None
        hashed, now_s = _cookie_hash(cookie), self._clock()
        for browser in self._list.browsers:
            if hmac.compare_digest(browser.known_by, hashed) and now_s - browser.seen_s < UNSEEN_S:
                if now_s - browser.seen_s > SEEN_S:
                    seen = msgspec.structs.replace(browser, seen_s=now_s)
                    updated = [seen if browser.id == known.id else known for known in self.browsers]
                    self._write(msgspec.structs.replace(self._list, browsers=tuple(updated)))
                return browser
        return None

    def revoke(self, id_: str) -> None:
        """Remove a browser, so that its cookie is no longer accepted."""
        remaining = tuple(browser for browser in self._list.browsers if browser.id != id_)
        self._write(msgspec.structs.replace(self._list, browsers=remaining))

    def set_passphrase(self, passphrase: str) -> None:
        """Require a passphrase when a browser is paired; "": require none."""
        salt = secrets.token_bytes(16)
        hashed = f"{salt.hex()}:{_passphrase_hash(passphrase, salt).hex()}" if passphrase else ""
        self._write(msgspec.structs.replace(self._list, passphrase=hashed))

    def is_passphrase(self, typed: str) -> bool:
        """Whether the passphrase is right; True if none is required."""
        if not self._list.passphrase:
            return True
        salt, _, hashed = self._list.passphrase.partition(":")
        try:
            return hmac.compare_digest(_passphrase_hash(typed, bytes.fromhex(salt)).hex(), hashed)
        except ValueError:
            return False  # a damaged file: no passphrase is accepted

    def _write(self, now: AccessList) -> None:
        """Write the list. After an error the list in memory stays in effect."""
        self._list = now
        try:
            write_private(self._file, msgspec.json.encode(now))
        except OSError as error:
            log.warning("%s cannot be written (%s)", self._file, error.strerror)


def form_token(cookie: str) -> str:
    """The CSRF token of the forms that are sent to the browser with that cookie."""
    return hmac.new(cookie.encode(), b"form", hashlib.sha256).hexdigest()


def is_form_token(token: str, cookie: str) -> bool:
    return hmac.compare_digest(token.encode(), form_token(cookie).encode())


def _cookie_hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()


def _passphrase_hash(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        passphrase.encode(), salt=salt, n=SCRYPT_N, r=SCRYPT_R, p=SCRYPT_P, dklen=32
    )
