"""What the set-up page hands to root: the page's own fields, in one small file of the page's user.

The page's process reads untrusted input, so root takes nothing else from it: a field that the
page does not have (ssh keys, a time zone), a file of another user, a link, a FIFO or a large file
is refused. Both sides of the file are here.
"""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from appliance.atomic_file import read_small, write_whole
from appliance.errors import SeedRefused
from appliance.provision.seed import Seed, WifiNetwork

FOLDER = Path("/run/interlude-page")  # tmpfiles.d: of the page's user, and nobody else's
USER = "interlude-setup"
FILE = "typed.json"
USED = "used"  # empty; its time is when somebody had the page last
IDENTIFY = "identify"  # empty; a phone asks by Bluetooth which box this is
MOST_BYTES = 8192

FormField = Annotated[str, msgspec.Meta(max_length=256)]


class SubmittedForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of the page (setup_site.py); each may be empty, the Wi-Fi's name only beside a
    cable."""

    wifi: FormField
    password: FormField = ""
    country: FormField = ""
    hostname: FormField = ""
    broker: FormField = ""
    user: FormField = ""
    secret: FormField = ""
    mode: Literal["", "open", "wake_word", "push_to_talk"] = ""
    model: Literal["", "gemma-4-e2b"] = ""
    card: FormField = ""
    panel: FormField = ""
    language: FormField = ""


def submit(folder: Path, seed: Seed) -> None:
    """As the page: hand a seed to root, as a whole. Raises OSError."""
    typed = SubmittedForm(
        wifi=seed.wifi.name.decode("utf-8") if seed.wifi else "",
        password=seed.wifi.password if seed.wifi else "",
        country=seed.country, hostname=seed.hostname, broker=seed.broker, user=seed.user,
        secret=seed.password, mode=seed.mode, card=seed.card, panel=seed.panel, model=seed.model,  # type: ignore[arg-type]
        language=seed.language,
    )  # fmt: skip
    write_whole(folder / FILE, msgspec.json.encode(typed), 0o600, lasting=False)


def pop_form(folder: Path, writer_uid: int) -> Seed | None:
    """As root: what the page has handed over, once; None if nothing lies there.

    `writer_uid`: whose file it has to be. Raises SeedRefused; the file is gone then, too.
    """
    data = _read(folder, writer_uid)
    if data is None:
        return None
    try:
        typed = msgspec.json.decode(data, type=SubmittedForm)
    except (msgspec.DecodeError, UnicodeError) as error:  # ValidationError is a DecodeError
        raise SeedRefused("The page has sent something that it does not ask for.") from error
    wifi = WifiNetwork(typed.wifi.encode(), typed.password) if typed.wifi else None
    return Seed(
        wifi=wifi, country=typed.country,
        hostname=typed.hostname, broker=typed.broker, user=typed.user, password=typed.secret,
        mode=typed.mode, model=typed.model, card=typed.card, panel=typed.panel,
        language=typed.language,
    )  # fmt: skip


def mark_used(folder: Path) -> None:
    """As the page: somebody has it. What cannot be noted costs at most a second try at the page."""
    with contextlib.suppress(OSError):
        write_whole(folder / USED, b"", 0o600, lasting=False)


def ask_identify(folder: Path) -> None:
    """As the page's user: have the box say that this is it. Raises OSError."""
    write_whole(folder / IDENTIFY, b"", 0o600, lasting=False)


def pop_identify(folder: Path) -> bool:
    """As root: whether that was asked for; once. Nothing of the file is read."""
    try:
        (folder / IDENTIFY).unlink()
    except OSError:
        return False
    return True


def last_used_ns(folder: Path) -> int | None:
    """As root: the time of the newest note (ns, of that file's clock); None if there is none."""
    try:
        return (folder / USED).lstat().st_mtime_ns
    except OSError:
        return None


def clear(folder: Path, *names: str) -> None:
    """As root: take away what lies there."""
    for name in names or (FILE, USED, IDENTIFY):
        with contextlib.suppress(OSError):
            (folder / name).unlink()


def _read(folder: Path, writer_uid: int) -> bytes | None:
    """Opened once: what is looked at and what is read are the same file. Raises SeedRefused."""
    try:
        return read_small(folder / FILE, MOST_BYTES, owner=writer_uid)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise SeedRefused("The page has handed over more than anybody types.") from error
        raise SeedRefused("The page has handed over what is no file of its own.") from error
    finally:
        clear(folder, FILE)
