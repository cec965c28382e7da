"""An attacker who may write into the incoming folder and replaces names, bytes and file kinds at
the worst moment."""

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

STRANGER = 12345  # a user id that owns no files; used where the tests run as root
EVIL = "#!/bin/sh\necho unsigned\n"
_AT_FDCWD, _EXCHANGE = -100, 2  # renameat2(2)


def exchange(one: Path, other: Path) -> None:
    """Exchange both names in one renameat2(2) call, so that neither name is ever missing."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, bytes(one), _AT_FDCWD, bytes(other), _EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def evil_tree() -> bytes:
    """An unsigned packed tree that contains everything a release needs."""
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
    """Replace the beginning of the tree in a release with a complete unsigned tree. The length of
    the file, its manifest and its signature stay as they were."""
    evil, data = evil_tree(), file.read_bytes()
    begins = data.index(b"\x1f\x8b\x08")  # gzip's first bytes
    if begins + len(evil) >= len(data):
        raise ValueError("this release is too small to be changed")
    with file.open("r+b") as target:
        target.seek(begins)
        target.write(evil)


@dataclass
class Turncoat(PaperBox):
    """An install target made of files. Each installation reads its clock once, before it unpacks
    the tree; `act` is called at that moment."""

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
    """While the context is open, a child process (as another user where the tests run as root)
    keeps exchanging `x.release` and both request notes in the incoming folder."""
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
        assert not ended, "the attacking process died: the test proves nothing"


def _exchange_for_ever(incoming: Path, genuine: Path, canary: Path) -> None:
    release = genuine.read_bytes()
    os.chdir(incoming)  # stay in this folder: only one user may enter the folders above it
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
        with suppress(FileNotFoundError, ValueError):  # removed, or another kind
            if chance.random() < 0.05 and _is_a_file(target):
                overwrite(target)
        time.sleep(0.01 * chance.random())  # else none stays long enough to be opened


def _is_a_file(path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and 0 < found.st_size < 1 << 30
