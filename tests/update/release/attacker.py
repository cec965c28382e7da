"""Who may write into the incoming folder, and does it at the worst moment: names, bytes, kinds."""

from __future__ import annotations

import ctypes
import gzip
import io
import os
import random
import shutil
import signal
import socket
import stat
import tarfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.update.release.workshop import PaperBox

STRANGER = 12345  # a user id that owns nothing; where the tests run as root
EVIL = "#!/bin/sh\necho unsigned\n"
_AT_FDCWD, _EXCHANGE = -100, 2  # renameat2(2)


def exchange(one: Path, other: Path) -> None:
    """Both names at once: nobody finds either of them missing."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, bytes(one), _AT_FDCWD, bytes(other), _EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def evil_tree() -> bytes:
    """A packed tree that nobody signed, with all that a release needs."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb") as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as tar,
    ):
        for name, data in (("bin", None), ("bin/interlude", EVIL), ("kind", "good")):
            info = tarfile.TarInfo(name)
            info.mode = 0o755
            info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            info.size = len(data or "")
            tar.addfile(info, io.BytesIO((data or "").encode()))
    return packed.getvalue()


def overwrite(file: Path) -> None:
    """The beginning of the tree in a release becomes a whole tree of ours; the file stays as long
    as it was, and its manifest and signature the genuine ones."""
    evil, data = evil_tree(), file.read_bytes()
    begins = data.index(b"\x1f\x8b\x08")  # gzip's first bytes
    if begins + len(evil) >= len(data):
        raise ValueError("this release is too small to be changed")
    with file.open("r+b") as target:
        target.seek(begins)
        target.write(evil)


@dataclass
class Turncoat(PaperBox):
    """A box of files whose clock is looked at once in each installation, before the tree is
    unpacked: then `act` is called."""

    act: Callable[[], None] = lambda: None

    def clock_s(self) -> float:
        self.act()
        return super().clock_s()


def _fifo(path: Path) -> None:
    os.mkfifo(path, 0o666)


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "something").write_text("in it")


def _socket(path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{folder}/{path.name}")  # at most 107 characters, unix(7)
    os.close(folder)


def _sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


KINDS: dict[str, Callable[[Path], None]] = {
    "a FIFO": _fifo,
    "a folder": _folder,
    "a socket": _socket,
    "a sparse file of 1 TiB": _sparse,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "an empty file": Path.touch,
}


@contextmanager
def exchanging(incoming: Path, genuine: Path, canary: Path) -> Iterator[None]:
    """As long as this lasts, another process (and another user, where we are root) keeps changing
    what `x.release` and both notes in the incoming folder are."""
    child = os.fork()
    if child == 0:
        try:
            _exchange_for_ever(incoming, genuine, canary)
        except BaseException:  # noqa: BLE001  # nothing of the child may reach pytest
            traceback.print_exc()
            os._exit(4)
    try:
        yield
    finally:
        ended, _ = os.waitpid(child, os.WNOHANG)
        if not ended:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert not ended, "the attacker died: nothing was tried"


def _exchange_for_ever(incoming: Path, genuine: Path, canary: Path) -> None:
    release = genuine.read_bytes()
    os.chdir(incoming)  # and stay there: what leads to a test's folder is for one user alone
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(STRANGER, STRANGER, STRANGER)
        os.setresuid(STRANGER, STRANGER, STRANGER)
    chance = random.Random(11)
    spares = Path("spares")
    spares.mkdir()
    Path("mine").write_bytes(release)
    targets = [Path(name) for name in ("x.release", "wanted", "wanted-system")]

    def a_release(path: Path) -> None:
        path.write_bytes(release)

    def a_changed_release(path: Path) -> None:
        path.write_bytes(release)
        overwrite(path)

    def a_link_to(what: Path) -> Callable[[Path], None]:
        return lambda path: path.symlink_to(what)

    def a_request(path: Path) -> None:
        path.write_text("x.release")

    links = [a_link_to(canary), a_link_to(incoming / "mine")]
    kinds = [*KINDS.values(), *links, a_changed_release, *4 * [a_release]]
    notes = [*KINDS.values(), *links, *40 * [a_request]]
    for number in range(1 << 62):
        spare = spares / str(number)
        target = chance.choice(targets)
        chance.choice(kinds if target.suffix else notes)(spare)
        try:
            exchange(spare, target)
        except FileNotFoundError:
            spare.rename(target)
        if not spare.is_symlink() and spare.is_dir():
            shutil.rmtree(spare, ignore_errors=True)
        else:
            spare.unlink(missing_ok=True)
        with suppress(FileNotFoundError, ValueError):  # it was taken away; it is something else
            if chance.random() < 0.05 and _is_a_file(target):
                overwrite(target)
        time.sleep(0.01 * chance.random())  # else no release is ever there for long enough


def _is_a_file(path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and 0 < found.st_size < 1 << 30
