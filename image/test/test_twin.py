"""An attack as each of the box's users in turn: twin.py replaces everything that the user may write
with FIFOs, symlinks, sparse files and folders while the box's units run.

In a container with two system slots (see pis.py), with the box's own units, users and code. Root
must write, own and start nothing outside a list, and block nowhere for 10 s.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from image.test import tiny
from image.test.fleet import ROOT, Fleet, scratch, started
from image.test.pis import Pi
from tests.update.system.workshop import Foundry, foundry

pytestmark = pytest.mark.timeout(1800)
SECONDS = float(os.environ.get("INTERLUDE_TWIN_S", "10"))  # least time of each user's attack
LONGEST_S = 10.0  # limit for a process of root in one system call on a file
GRACE_S = 240.0  # limit until the running units end afterwards, on a busy machine
TWIN = "usr/local/lib/twin.py"
LOOT = "usr/local/lib/loot"
RELEASES = 6  # genuine ones, each newer than the one before
BALLAST_BYTES = 16 << 20
OWNED = ("root/owned", "etc/owned", "run/owned")
# They run after failures of the box, and read nothing that a user may write. interlude-settle waits
# for up to 300 s, longer with each start, and ends the trial of a release.
NOT_RUN = ("interlude-settle.service", "interlude-other-system.service", "interlude-leave.service")
# Root may write below these while its units run: the system's files, and what an update changes.
MAY_CHANGE = re.compile(
    r"^/(var/log|var/lib/systemd|var/cache|run|tmp|var/tmp|dev|opt/interlude"
    r"|etc/\.pwd\.lock|etc/machine-id|etc/resolv\.conf|data/interlude-slots|data/slots)(/|$)"
)


@dataclass
class Watch:
    """Watches root's processes in a box from outside, and collects those that block in one call."""

    first: int  # the box's first process
    stuck: set[str] = field(default_factory=set)
    _seen: dict[int, tuple[str, float]] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Watch:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        space = Path(f"/proc/{self.first}/ns/pid").readlink()
        while not self._over.wait(0.25):
            now = time.monotonic()
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):  # it has ended
                    if (process / "ns/pid").readlink() == space:
                        self._look(process, now)

    def _look(self, place: Path, now: float) -> None:
        pid = int(place.name)
        unit = place.joinpath("cgroup").read_text()
        if place.stat().st_uid != 0 or "interlude" not in unit:
            return
        call = place.joinpath("syscall").read_text().strip()
        known, since = self._seen.get(pid, ("", now))
        if call != known:
            self._seen[pid] = (call, now)
        elif now - since > LONGEST_S and _is_upon_a_file(place, call):
            words = place.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode()
            self.stuck.add(f"{words}: {call}")


def _is_upon_a_file(process: Path, call: str) -> bool:
    """Whether the call is an open, or a read or write of a FIFO, and not another kind of wait."""
    words = call.split()
    opens, moves = {"2", "257", "437"}, {"0", "1", "17", "18"}  # x86-64
    if os.uname().machine == "aarch64":
        opens, moves = {"56", "437"}, {"63", "64", "67", "68"}
    if words[0] in opens:
        return True
    if words[0] not in moves:
        return False
    end = process / "fd" / str(int(words[1], 16))
    return stat.S_ISFIFO(end.stat().st_mode) and not str(end.readlink()).startswith("pipe:")


@dataclass(frozen=True)
class Entry:
    """The file at a path, with enough attributes to detect a change by root."""

    kind: int
    mode: int
    uid: int
    gid: int
    content: str


def survey(root: Path) -> dict[str, Entry]:
    """All files in a box, from outside through /proc/PID/root of its first process."""
    found = {}
    for place, below, files in os.walk(root):
        inside = "/" + os.path.relpath(place, root).removeprefix(".")
        inside = re.sub("/+", "/", inside)
        if inside in ("/proc", "/sys"):
            below.clear()
            continue
        for name in (*below, *files):
            path = Path(place, name)
            try:
                found[f"{inside.rstrip('/')}/{name}"] = _entry(path)
            except FileNotFoundError:
                continue
    return found


def _entry(path: Path) -> Entry:
    about = path.lstat()
    content = ""
    if stat.S_ISLNK(about.st_mode):
        content = str(path.readlink())
    elif stat.S_ISREG(about.st_mode) and about.st_size < 8 << 20:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    mode = stat.S_IMODE(about.st_mode)
    return Entry(stat.S_IFMT(about.st_mode), mode, about.st_uid, about.st_gid, content)


@dataclass
class Prey:
    """The box, its users and units, and the digests of the signed releases."""

    fleet: Fleet
    box: Pi
    users: dict[str, int]
    units: tuple[str, ...]
    genuine: dict[str, dict[str, str]]  # version → file → digest

    @property
    def seen(self) -> Path:
        return Path(f"/proc/{self.first}/root")

    @property
    def first(self) -> int:
        assert self.box._runs is not None
        nspawn = self.box._runs.pid
        return int(Path(f"/proc/{nspawn}/task/{nspawn}/children").read_text().split()[0])


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Foundry:
    return foundry(tmp_path_factory.mktemp("systems"))


@pytest.fixture(scope="module")
def prey(systems: Foundry) -> Iterator[Prey]:
    """A box with two slots and a release, and genuine and hostile archives in LOOT."""
    first = systems.make("1.0.0")

    def pi(name: str, number: int, lower: Path, folder: Path, key: Path) -> Pi:
        return Pi(name, number, lower, folder, key, first=first)

    with scratch() as folder, started(folder, 1, pi, (systems.shop.key,)) as made:
        release = made.release("0.1.0")
        played = made.play(
            "site.yml", "--skip-tags", "packages", "-e", f"interlude_release_file={release}"
        )
        assert played.code == 0, played.said[-3000:]
        box = cast("Pi", made.boxes[0])
        box.ssh("systemctl mask reboot.target")  # an installed system would reboot
        (box.root / "etc/canary").write_text("as it was\n")
        shutil.copy(ROOT / "image/test/twin.py", box.root / TWIN)
        genuine = {"0.1.0": _digests(made.folder / "made/tree-0.1.0")}
        loot = box.root / LOOT
        loot.mkdir(parents=True)
        for number in range(RELEASES):
            version = f"0.2.{number}"
            shutil.move(_genuine(made, version), loot / f"good-{number}.release")
            genuine[version] = _digests(made.folder / "made" / f"tree-{version}")
        _lay_hostile(made, loot)
        _lay_systems(systems, loot)
        for file in loot.iterdir():
            file.chmod(0o644)
        yield Prey(made, box, _users(box), _units(box), genuine)


def _make(fleet: Fleet, into: str, key: Path, version: str, more: dict[str, bytes]) -> Path:
    folder = fleet.folder / into
    folder.mkdir(exist_ok=True)
    return tiny.make(folder, key, version, machine=os.uname().machine, python="any", more=more)


def _genuine(fleet: Fleet, version: str) -> Path:
    """A genuine release, large enough that its check takes a while."""
    return _make(fleet, "made", fleet.key, version, {"ballast": os.urandom(BALLAST_BYTES)})


def _lay_hostile(fleet: Fleet, loot: Path) -> None:
    """Add a release that leaves marks if it is run, signed by an unknown key, and its bare tree."""
    marks = "\n".join(f"touch /{path} 2>/dev/null" for path in OWNED)
    command = tiny.COMMAND.replace("#!/bin/sh\n", f"#!/bin/sh\n{marks}\n").encode()
    made = _make(fleet, "evil", fleet.stranger, "0.3.0", {"bin/interlude": command})
    with tarfile.open(made) as archive:
        tree = archive.extractfile("tree.tar.gz")
        assert tree is not None
        (loot / "evil.tree").write_bytes(tree.read())
    shutil.move(made, loot / "evil.release")


def _lay_systems(systems: Foundry, loot: Path) -> None:
    system = systems.make("1.1.0").archive
    data = bytearray(system.read_bytes())
    (loot / "good.system").write_bytes(data)
    data[-700] ^= 0xFF
    (loot / "evil.system").write_bytes(data)


def _digests(tree: Path) -> dict[str, str]:
    return {
        str(path.relative_to(tree)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in tree.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def _users(box: Pi) -> dict[str, int]:
    """User ids of the box's own users, by name."""
    lines = box.ssh("getent passwd").stdout.splitlines()
    found = {words[0]: int(words[2]) for words in (line.split(":") for line in lines)}
    return {name: uid for name, uid in found.items() if name.startswith("interlude")}


def _units(box: Pi) -> tuple[str, ...]:
    """All services of ours, except for templates and NOT_RUN."""
    folder = box.root / "usr/lib/systemd/system"
    found = {file.name for file in folder.glob("interlude*.service") if "@" not in file.name}
    assert found > {"interlude-update.service", "interlude-system.service", *NOT_RUN}
    return tuple(sorted(found.difference(NOT_RUN)))


def test_nothing_is_written_owned_or_started_off_a_list(prey: Prey) -> None:
    for unit in prey.units:  # changes by a unit's first run are not the attack's
        prey.box.ssh(f"systemctl start --no-block {unit}")
    _wait_until_they_end(prey)
    before = survey(prey.seen)
    swaps = {}
    with Watch(prey.first) as watch:
        for number, user in enumerate(prey.users):
            swaps[user] = _attack(prey, user, number)
    for user, (count, places) in swaps.items():
        print(f"   {user}: {count} swaps in {len(places)} folders")
    journal = prey.box.ssh("journalctl -u 'interlude-*' -o cat --no-pager").stdout
    checked = re.findall(
        r"installed 0\.2\.\d|was changed after it was signed|became shorter", journal
    )
    print(f"   archives that root read to the end or refused on the way: {len(checked)}")
    assert not watch.stuck
    # Changes in folders that the attacker may write are its own; all others are root's.
    mine = {place for _, places in swaps.values() for place in places}
    after = survey(prey.seen)
    uids = set(prey.users.values())
    problems = [
        f"{path}: {before.get(path)} -> {entry}"
        for path, entry in after.items()
        if entry != before.get(path) and not _is_below(path, mine) and not MAY_CHANGE.match(path)
    ]
    problems += [f"{path} is gone" for path in before.keys() - after.keys()
                 if not _is_below(path, mine) and not MAY_CHANGE.match(path)]  # fmt: skip
    problems += [
        f"{path} belongs to user {entry.uid}"
        for path, entry in after.items()
        if entry.uid in uids and not _is_below(path, mine) and before.get(path, entry) == entry
        and path not in before
    ]  # fmt: skip
    assert not problems, "\n".join(problems[:40])
    assert not [path for path in OWNED if (prey.seen / path).exists()]
    assert checked, journal[-4000:]
    # The least seen was five in 17 s, with six runnable processes for each core.
    assert all(count > 1 for count, places in swaps.values() if places)


def test_what_lies_in_the_releases_folder_is_what_was_signed(prey: Prey) -> None:
    releases = prey.seen / "opt/interlude/releases"
    for folder in releases.iterdir():
        genuine = prey.genuine[folder.name]
        found = _digests(folder)
        found.pop("release.json", None)
        found = {path: digest for path, digest in found.items() if "__pycache__" not in path}
        assert found.items() <= genuine.items()
        for path in (folder, *folder.rglob("*")):
            about = path.lstat()
            assert about.st_uid == 0, path
            assert path.is_symlink() or not about.st_mode & 0o6022, path
    assert prey.fleet.kept()[0] in prey.genuine


def test_the_box_still_takes_a_genuine_release(prey: Prey) -> None:
    # If the attacker's last request was the genuine system, its trial must be ended first.
    prey.box.ssh("systemctl start interlude-settle-system.service")
    file = prey.fleet.release("0.9.0")
    played = prey.fleet.update(file)
    assert played.code == 0, played.said[-3000:]
    assert prey.fleet.kept() == ["0.9.0"]


def _attack(prey: Prey, user: str, seed: int) -> tuple[int, set[str]]:
    """Attack as `user` while the units run in turn.

    Returns the number of swaps, and the folders that the user may write.
    """
    box = prey.box
    begun_s = time.monotonic()
    box.ssh("systemctl reset-failed 'interlude*'")
    words = f"/usr/bin/setpriv --reuid={user} --regid={user} --init-groups python3 /{TWIN}"
    with subprocess.Popen(
        ["ssh", "-q", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
         "-i", box.key, f"root@{box.address}", f"{words} {SECONDS} {seed} /{LOOT}"],
        stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
    ) as twin:  # fmt: skip
        number = 0
        while twin.poll() is None:
            unit = prey.units[number % len(prey.units)]
            box.ssh(f"systemctl reset-failed {unit}; systemctl start --no-block {unit}")
            number += 1
            time.sleep(0.1)
        said = (twin.stdout.read() if twin.stdout else "").splitlines()
    assert twin.returncode == 0
    attacked_s = time.monotonic() - begun_s
    last = _wait_until_they_end(prey)
    took_s = time.monotonic() - begun_s - attacked_s
    print(f"   {user}: {attacked_s:.0f} s, and {took_s:.0f} s until all had ended, last {last}")
    places = {line for line in said if line.startswith("/")}
    swaps = next(int(line.split()[1]) for line in said if line.startswith("swaps"))
    return swaps, places


def _wait_until_they_end(prey: Prey) -> str:
    """Wait until all units have ended. Returns the last ones that ran."""
    last = "none"
    limit = time.monotonic() + GRACE_S
    names = " ".join(prey.units)
    while True:
        said = prey.box.ssh(f"systemctl is-active {names}").stdout.split()
        busy = [unit for unit, how in zip(prey.units, said, strict=True) if how == "activating"]
        if not busy:
            return last
        last = " ".join(busy)
        if time.monotonic() > limit:
            raise AssertionError(prey.box.ssh(f"systemctl status {' '.join(busy)}").stdout)
        time.sleep(0.5)


def _is_below(path: str, places: set[str]) -> bool:
    return any(path == place or path.startswith(f"{place.rstrip('/')}/") for place in places)
