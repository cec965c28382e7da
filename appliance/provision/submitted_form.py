"""The file by which the set-up page submits its form to root, written and read in this module.

The page's process parses untrusted input, so root accepts the fields of the form only. It refuses a
field that the page does not have (ssh keys, a time zone), a file of another user, a symlink, a FIFO
and a large file.
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

FOLDER = Path("/run/interlude-page")  # tmpfiles.d: writable by the page's user only
USER = "interlude-setup"
FILE = "typed.json"
USED = "used"  # empty; its mtime is the last use of the page
IDENTIFY = "identify"  # empty; a phone asks by Bluetooth that the box identifies itself
MOST_BYTES = 8192

FormField = Annotated[str, msgspec.Meta(max_length=256)]


class SubmittedForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form's fields (setup_site.py). Each may be empty, but `wifi` only if there is a cable."""

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
    """As the page: write a seed for root, atomically. Raises OSError."""
    form = SubmittedForm(
        wifi=seed.wifi.name.decode("utf-8") if seed.wifi else "",
        password=seed.wifi.password if seed.wifi else "",
        country=seed.country, hostname=seed.hostname, broker=seed.broker, user=seed.user,
        secret=seed.password, mode=seed.mode, card=seed.card, panel=seed.panel, model=seed.model,  # type: ignore[arg-type]
        language=seed.language,
    )  # fmt: skip
    write_whole(folder / FILE, msgspec.json.encode(form), 0o600, lasting=False)


def pop_form(folder: Path, writer_uid: int) -> Seed | None:
    """As root: read the submitted form and remove its file; None if there is none.

    `writer_uid`: the required owner of the file. Raises SeedRefused, also after removing the file.
    """
    data = _read(folder, writer_uid)
    if data is None:
        return None
    try:
        form = msgspec.json.decode(data, type=SubmittedForm)
    except (msgspec.DecodeError, UnicodeError) as error:  # ValidationError is a DecodeError
        raise SeedRefused("The page has sent an invalid form.") from error
    wifi = WifiNetwork(form.wifi.encode(), form.password) if form.wifi else None
    return Seed(
        wifi=wifi, country=form.country,
        hostname=form.hostname, broker=form.broker, user=form.user, password=form.secret,
        mode=form.mode, model=form.model, card=form.card, panel=form.panel,
        language=form.language,
    )  # fmt: skip


def mark_used(folder: Path) -> None:
    """As the page: note its use. An OSError is ignored: at worst the set-up closes early, and the
    owner opens the page again."""
    with contextlib.suppress(OSError):
        write_whole(folder / USED, b"", 0o600, lasting=False)


def ask_identify(folder: Path) -> None:
    """As the page's user: request that the box identifies itself aloud. Raises OSError."""
    write_whole(folder / IDENTIFY, b"", 0o600, lasting=False)


def pop_identify(folder: Path) -> bool:
    """As root: whether that was requested; removes the request without reading it."""
    try:
        (folder / IDENTIFY).unlink()
    except OSError:
        return False
    return True


def last_used_ns(folder: Path) -> int | None:
    """As root: mtime of the last use in ns; None if there is none."""
    try:
        return (folder / USED).lstat().st_mtime_ns
    except OSError:
        return None


def clear(folder: Path, *names: str) -> None:
    """As root: remove the page's files, or those in `names`."""
    for name in names or (FILE, USED, IDENTIFY):
        with contextlib.suppress(OSError):
            (folder / name).unlink()


def _read(folder: Path, writer_uid: int) -> bytes | None:
    """Read the form's file and remove it. It is opened once, so that the checked file is the one
    that is read. Raises SeedRefused."""
    try:
        return read_small(folder / FILE, MOST_BYTES, owner=writer_uid)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise SeedRefused("The page has sent a form that is too large.") from error
        raise SeedRefused("The page's form is not a regular file of its user.") from error
    finally:
        clear(folder, FILE)
