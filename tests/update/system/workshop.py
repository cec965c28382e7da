"""A card made of files that records each write, systems to install on it, and a machine that runs
them."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import ReleaseRefused
from appliance.runtime.status import SupervisorStatus
from appliance.update.archive_parts import sign_archive
from appliance.update.health_check import HealthReading
from appliance.update.release.manifest import NAME, ReleaseManifest
from appliance.update.release.store import ReleaseStore
from appliance.update.system.block_device import BlockDevice, FileBlockDevice
from appliance.update.system.pack import pack
from appliance.update.system.slot import SLOTS, SlotName, autoboot, named
from appliance.update.system.slot_state import SlotStateFile
from appliance.update.system.updater import SystemUpdater
from image import disk
from image.firmware import TRYBOOT, Firmware, Started
from tests.update.release.workshop import MADE_S, Workshop

FAT_MIB = 34  # the smallest FAT32 of mtools and of the specification
SYSTEM_BYTES = 1 << 16
PIECE = 1 << 16
RELEASE = "1.0.0"
CMDLINE = "root=PARTLABEL=system_a rootfstype=erofs ro interlude.slot=a quiet\n"
CONFIG = "[all]\nkernel=kernel_2712.img\nauto_initramfs=1\n"


@dataclass
class Written:
    """One write, or a flush of one partition if `data` is None."""

    part: str
    at: int = 0
    data: bytes | None = None


class NotedPart(FileBlockDevice):
    """Records the writes of a partition. If it is the card's `lossy` one, only its first bytes are
    kept, though every write succeeds."""

    def __init__(self, fd: int, name: str, size: int, card: PaperCard) -> None:
        super().__init__(fd, name, 0, size)
        self._card = card

    def write(self, at: int, data: bytes) -> None:
        for begin in range(0, len(data), PIECE):  # a real card may split a large write, too
            piece = data[begin : begin + PIECE]
            if not (self._card.lossy == self.name and at + len(data) > 4096):
                super().write(at + begin, piece)
            self._card.notes.append(Written(self.name, at + begin, piece))
            self._card.changed()

    def flush(self) -> None:
        self._card.notes.append(Written(self.name))


@dataclass
class PaperCard:
    """Partitions by name: sparse files in a folder."""

    folder: Path
    notes: list[Written] = field(default_factory=list)
    lossy: str = ""
    changed: Callable[[], None] = lambda: None

    def place(self, name: str) -> Path:
        return self.folder / name

    @contextmanager
    def part(self, name: str) -> Iterator[BlockDevice]:
        fd = os.open(self.place(name), os.O_RDWR | os.O_CLOEXEC)
        try:
            yield NotedPart(fd, name, os.fstat(fd).st_size, self)
        finally:
            os.close(fd)

    def begins(self, name: str) -> bytes:
        """The first bytes of a partition."""
        with self.part(name) as part:
            return part.read(0, SYSTEM_BYTES)

    def poke(self, name: str, at: int, data: bytes) -> None:
        """Write without a record, as damage or an attacker would."""
        with self.place(name).open("r+b") as file:
            file.seek(at)
            file.write(data)

    def firmware(self) -> Firmware:
        """The simulated firmware of the Pi, on this card."""
        names = ("bootconfig", "boot_a", "boot_b")
        return Firmware({number: str(self.place(name)) for number, name in enumerate(names, 1)})


@dataclass
class Made:
    """The two parts of a system, and its archive."""

    version: str
    boot: Path
    system: Path
    archive: Path


@dataclass
class PaperPi:
    """A Pi that starts what the firmware selects. `kinds` maps a version to the behaviour of its
    box."""

    card: PaperCard
    running: SlotName | None = "a"
    said: str | None = None  # the version of the running system
    kinds: dict[str, str] = field(default_factory=dict)
    started: Started | None = None
    starts: int = 0
    asked: list[str] = field(default_factory=list)
    time_s: float = 100.0
    began_s: float = 0.0
    clock: float = MADE_S + 1000.0
    quiet_at_s: float = 0.0
    pid: int = 700
    loses_restart_words: bool = False  # the argument never reaches the firmware

    def slot(self) -> SlotName | None:
        return self.running

    def version(self) -> str | None:
        return self.said

    def supports_tryboot(self) -> bool:
        return not self.loses_restart_words

    def reboot(self, *, trial: bool) -> None:
        self.asked.append(TRYBOOT if trial else "")

    def power(self, words: str = "") -> None:
        """Switch the machine off and on, with an argument for the firmware. Raises NoStart."""
        self.asked.clear()
        self.started = self.card.firmware().restart("" if self.loses_restart_words else words)
        self.starts += 1
        self.running = named(self.started.cmdline)
        assert self.running is not None
        root = self.started.cmdline.split("root=PARTLABEL=")[1].split()[0]
        assert root == SLOTS[self.running].system
        head, _, rest = self.card.begins(root).partition(b"\n")
        self.said = head.decode(errors="replace") if rest.strip(b"\0") else None
        self.began_s = self.time_s

    def restart(self) -> None:
        raise AssertionError("the service is never restarted alone")

    def read_health(self) -> HealthReading:
        kind = self.kinds.get(self.said or "", "good")
        up_s = self.time_s - self.began_s
        if kind == "crashes" and up_s > 2.0:
            return HealthReading("starting", restarts=1)
        if kind == "hangs" or up_s < 1.0:
            return HealthReading("starting")
        talking = self.time_s < self.quiet_at_s
        failed = ("speaker",) if kind == "gives up speaker" else ()
        state = "speaking" if talking else "idle"
        return HealthReading(
            "active",
            status=SupervisorStatus(version=RELEASE, pid=self.pid, state=state, ready=True,
            healthy=True,
                          failed=failed),
        )  # fmt: skip

    def run_selftest(self, release: Path) -> None:
        raise ReleaseRefused(f"{release} is not tested here")

    def clock_s(self) -> float:
        return self.clock

    def now_s(self) -> float:
        return self.time_s

    def wait(self, seconds: float) -> None:
        self.time_s += seconds


@dataclass
class Bench:
    """A card that runs system 0.1.0 from slot a, and a workshop."""

    folder: Path
    foundry: Foundry
    card: PaperCard
    slot_state: SlotStateFile
    machine: PaperPi
    store: ReleaseStore

    def archive(self, version: str, **changed: str) -> Path:
        """A copy of the archive, for this test alone."""
        made = self.foundry.make(version, **changed)
        return Path(shutil.copy(made.archive, self.folder / f"{version}.system"))

    def updater(self, slot_state: SlotStateFile | None = None) -> SystemUpdater:
        signers = self.foundry.shop.signers
        return SystemUpdater(
            self.card, slot_state or self.slot_state, self.machine, self.store, signers
        )

    def version_that_starts(self, words: str = "") -> str:
        self.machine.power(words)
        return self.machine.said or ""


def copy_sparse(source: Path, target: Path) -> None:
    subprocess.run(["cp", "--sparse=always", source, target], check=True)


def fat(path: Path, files: dict[str, bytes]) -> Path:
    folder = path.with_suffix(".files")
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    disk.fat(path, path.stem, folder, FAT_MIB)
    return path


@dataclass
class Foundry:
    """Makes each system once and hands out copies."""

    folder: Path
    shop: Workshop
    made: dict[tuple[str, ...], Made] = field(default_factory=dict)

    def make(
        self, version: str, key: str = "", cmdline: str = CMDLINE, machine: str = "any"
    ) -> Made:
        wanted = (version, key, cmdline, machine)
        if wanted not in self.made:
            self.made[wanted] = self._make(version, key, cmdline, machine)
        return self.made[wanted]

    def _make(self, version: str, key: str, cmdline: str, machine: str) -> Made:
        into = self.folder / f"system-{len(self.made)}"
        into.mkdir()
        chance = random.Random(version)
        files = {
            "kernel_2712.img": f"kernel {version}\n".encode() + chance.randbytes(3000),
            "initramfs_2712": chance.randbytes(2000),
            "config.txt": CONFIG.encode(),
            "cmdline.txt": cmdline.encode(),
        }
        boot = fat(into / "boot.fat", files)
        system = into / "system.erofs"
        root = chance.randbytes(SYSTEM_BYTES)
        system.write_bytes((f"{version}\n".encode() + root)[:SYSTEM_BYTES])
        signs = self.shop.new_key(key) if key else self.shop.key
        archive = pack(boot, system, into, version=version, machine=machine, made_s=MADE_S, level=1)
        sign_archive(archive, signs)
        return Made(version, boot, system, archive)


def foundry(folder: Path) -> Foundry:
    (folder / "shop").mkdir()
    return Foundry(folder, Workshop(folder / "shop"))


def bench(folder: Path, made: Foundry) -> Bench:
    first = made.make("0.1.0")
    config = fat(folder / "config.fat", {"autoboot.txt": autoboot("a").encode()})
    card = PaperCard(folder / "card")
    card.folder.mkdir()
    for name, source, size in (
        ("bootconfig", config, FAT_MIB << 20),
        ("boot_a", first.boot, FAT_MIB << 20),
        ("boot_b", None, FAT_MIB << 20),
        ("system_a", first.system, 2 * SYSTEM_BYTES),
        ("system_b", None, 2 * SYSTEM_BYTES),
    ):
        if source is None:
            card.place(name).touch()
        else:
            copy_sparse(source, card.place(name))
        os.truncate(card.place(name), size)
    store = ReleaseStore(folder / "opt", folder / "run")
    release = store.folder(RELEASE)
    release.mkdir(parents=True)
    manifest = ReleaseManifest(version=RELEASE, machine="any", python="any", made_s=MADE_S,
                    tree_sha256="0" * 64, tree_bytes=0, files_bytes=0)  # fmt: skip
    (release / NAME).write_bytes(manifest.encode())
    store.commit(RELEASE)
    machine = PaperPi(card)
    machine.power()
    machine.time_s += 100.0
    return Bench(folder, made, card, SlotStateFile(folder / "opt/system"), machine, store)
