"""A machine with the card in it: QEMU's `virt` with a Cortex-A76, started as the firmware would.

What starts is what lies on the card: autoboot.txt says which slot, the slot's FAT file system has
kernel, initramfs and command line. Not the Pi: no firmware of its, no RP1, no radio. KVM is not
used, even where there is a /dev/kvm: the host need not be a Pi.

Its time is its own: the number of instructions that it has executed (-icount), at GIPS a second of
the guest's. So it is slow to us, but not to itself: sound, watchdogs and time-outs are as on a
machine of that speed, however busy this one is; where all cores idle, time leaps to the next timer.
QEMU counts a nanosecond an instruction at most; the timer's rate, told too high by GIPS in the
device tree, does the rest.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from image import disk, layout
from image.firmware import TRYBOOT, Firmware, places
from lab.free_port import free_port

CARD_GIB = 8  # QEMU wants a power of two
LIMIT_S = 1800.0  # of ours, for a start: two minutes on an idle PC, seven on a busy one
# Of all four cores together. A Pi 5 has four at 2.4 GHz, which execute one instruction a cycle and
# more: some 10 to 20. Fewer here, for QEMU counts one where a core of the Pi's waits for memory.
GIPS = 8
_TIMER_HZ = 62_500_000  # QEMU's generic timer of a Cortex-A76
_SSH = ("-q", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
        "-o", "ConnectTimeout=300", "-o", "BatchMode=yes", "-o", "ControlMaster=auto",
        "-o", "ControlPersist=yes")  # fmt: skip


class NeverCame(Exception):
    """The machine did not start; the end of its console says why."""


@dataclass
class Card:
    """A copy of an image, which a machine writes to."""

    image: Path

    @classmethod
    def copy(cls, of: Path, to: Path) -> Card:
        """A card of its own, larger than the image, as they are; no hole is filled."""
        disk.tell("cp", "--sparse=always", "--reflink=auto", of, to)
        os.truncate(to, CARD_GIB << 30)
        return cls(to)

    def places(self) -> dict[str, int]:
        return disk.offsets(self.image)

    def put(self, name: str, file: str, text: str, scratch: Path) -> None:
        """A text file onto a FAT partition, as an owner's computer would."""
        (scratch / "put").write_text(text)
        place = f"{self.image}@@{self.places()[name]}"
        disk.tell("mcopy", "-o", "-i", place, scratch / "put", f"::{file}")

    def put_bytes(self, name: str, data: bytes) -> None:
        """At the beginning of a partition, as a worn card does; not while a machine runs."""
        with self.image.open("r+b") as file:
            file.seek(self.places()[name])
            file.write(data)

    def keep(self, files: dict[str, str], scratch: Path, mode: int = 0o600) -> None:
        """Root's files onto `data`, by path: what an earlier start would have left there."""
        words = []
        made: set[Path] = set()
        for count, (path, content) in enumerate(files.items()):
            for folder in reversed(Path(path).parents):
                if str(folder) != "." and folder not in made:
                    made.add(folder)
                    words.append(f"mkdir /{folder}")
            (scratch / f"keep{count}").write_text(content)
            words += [f"rm /{path}", f"write {scratch}/keep{count} /{path}",
                      f"sif /{path} mode 0{0o100000 | mode:o}", f"sif /{path} uid 0",
                      f"sif /{path} gid 0"]  # fmt: skip
        place = f"{self.image}?offset={self.places()['data']}"
        disk.tell("debugfs", "-w", "-f", "-", place, stdin="\n".join(words) + "\n")


@dataclass
class Machine:
    """A card's machine. What it starts, the stand-in for the Pi's firmware says (firmware.py)."""

    card: Card
    scratch: Path
    key: Path
    cores: int = 4
    memory_mib: int = 2048
    more: tuple[str, ...] = ()
    words: str = ""  # on the kernel's command line, after the slot's own
    online: bool = False
    tap: str = ""  # a tap device of this machine: a network of the test's, in place of QEMU's own
    header: bool = False  # the device tree has the Pi's 28 pins (the kernel's gpio-simulator)
    address: str = "127.0.0.1"  # where its ssh is reached
    port: int = field(default_factory=free_port)
    _runs: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _begun: float = field(default=0.0, init=False)
    _firmware: Firmware = field(init=False)

    def __post_init__(self) -> None:
        fats = tuple(row.name for row in layout.LAYOUT if row.holds == "fat")
        self._firmware = Firmware(places(self.card.image, self.card.places(), fats))

    @property
    def console(self) -> str:
        path = self.scratch / "console.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self, restart: str | None = None) -> None:
        """As power does, or as `reboot RESTART` does. Raises NoStart."""
        begun = self._firmware.start() if restart is None else self._firmware.restart(restart)
        (self.scratch / "kernel").write_bytes(begun.kernel)
        (self.scratch / "initramfs").write_bytes(begun.initramfs)
        said = begun.cmdline.replace(" quiet", "")
        said += " console=ttyAMA0 net.ifnames=0 systemd.getty_auto=0"
        # What a unit says when it fails is on the console even if nobody can come in.
        said += " systemd.show_status=0 systemd.journald.forward_to_console=1"
        if restart == TRYBOOT:
            said += " interlude.trial=1"  # QEMU has no word of the firmware's in its device tree
        tree = self._device_tree()
        if self.tap:
            self.port = 22
            network = f"tap,id=n0,ifname={self.tap},script=no,downscript=no"
        else:
            network = (f"user,id=n0,restrict={'off' if self.online else 'on'}"
                       f",hostfwd=tcp:127.0.0.1:{self.port}-:22")  # fmt: skip
        noon = f"{datetime.now(UTC):%Y-%m-%d}T12:00:00"  # by day: the light is dimmed at night
        command = [
            "setpriv", "--pdeathsig", "KILL",  # whatever becomes of the test, it does not go on
            "qemu-system-aarch64", *self._processors(), "-M", "virt",
            "-icount", "shift=0,sleep=off", "-rtc", f"clock=vm,base={noon}", "-dtb", str(tree),
            "-no-reboot", "-action", "watchdog=none",
            "-kernel", str(self.scratch / "kernel"),
            "-initrd", str(self.scratch / "initramfs"), "-append", f"{said} {self.words}",
            "-drive", f"if=none,id=card,file={self.card.image},format=raw,cache=unsafe",
            "-device", "sdhci-pci", "-device", "sd-card,drive=card",  # /dev/mmcblk0, as on a Pi
            "-netdev", network,
            "-device", "virtio-net-pci,netdev=n0", "-device", "virtio-rng-pci",
            "-device", "i6300esb",
            "-serial", f"file:{self.scratch}/console.log",
            "-qtest", f"unix:{self.scratch}/qtest.sock,server=on,wait=off",
            "-qtest-log", "/dev/null", *self.more,
        ]  # fmt: skip
        with (self.scratch / "qemu.log").open("ab") as log:
            self._runs = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._begun = time.monotonic()

    def _processors(self) -> tuple[str, ...]:
        return ("-cpu", "cortex-a76", "-smp", str(self.cores), "-m", str(self.memory_mib),
                "-nodefaults", "-display", "none")  # fmt: skip

    def _device_tree(self) -> Path:
        """QEMU's own, with the rate at which the guest believes its timer to count."""
        path = self.scratch / "virt.dtb"
        subprocess.run(["qemu-system-aarch64", "-M", f"virt,dumpdtb={path}", *self._processors()],
                       check=True, capture_output=True)  # fmt: skip
        disk.tell("fdtput", "-t", "u", path, "/timer", "clock-frequency", str(GIPS * _TIMER_HZ))
        if self.header:  # Documentation/admin-guide/gpio/gpio-sim.rst; the label is the Pi 5's
            bank = "/gpio-sim/bank0"
            disk.tell("fdtput", "-p", "-t", "s", path, bank, "gpio-sim,label", "pinctrl-rp1")
            disk.tell("fdtput", "-t", "s", path, "/gpio-sim", "compatible", "gpio-simulator")
            disk.tell("fdtput", "-t", "u", path, bank, "ngpios", "28")
            disk.tell("fdtput", "-t", "u", path, bank, "#gpio-cells", "2")
            disk.tell("fdtput", path, bank, "gpio-controller")
        return path

    def wait_for(self, command: str, limit_s: float = LIMIT_S) -> float:
        """Until `command` succeeds in the machine. Returns the seconds since its start."""
        assert self._runs is not None
        while self.ssh(command).returncode:
            if self._runs.poll() is not None or time.monotonic() - self._begun > limit_s:
                tail = "\n".join(self.console.splitlines()[-30:])
                raise NeverCame(f"`{command}` never succeeded; the console ends with\n{tail}")
            time.sleep(3.0)
        return time.monotonic() - self._begun

    def ends(self, limit_s: float = LIMIT_S) -> None:
        """Until it is off, or wanted to start anew (QEMU has -no-reboot)."""
        assert self._runs is not None
        self._runs.wait(limit_s)

    def goes_down(self, limit_s: float = LIMIT_S) -> str:
        """Until it starts anew. Returns what it says to the firmware, which the kernel repeats."""
        self.ends(limit_s)
        said = re.search(r"Restarting system with command '([^']*)'", self.console)
        return said[1] if said else ""

    def cut_power(self) -> None:
        if self._runs is not None and self._runs.poll() is None:
            self._runs.kill()
            self._runs.wait()

    def ssh_command(self, command: str) -> list[str]:
        return ["ssh", *_SSH, "-o", f"ControlPath={self.scratch}/ssh", "-i", str(self.key),
                "-p", str(self.port), f"root@{self.address}", command]  # fmt: skip

    def ssh(self, command: str, timeout_s: float = 600) -> subprocess.CompletedProcess[str]:
        """One connection for all: to shake hands takes an emulated machine half a minute."""
        try:
            return subprocess.run(
                self.ssh_command(command), capture_output=True, text=True, check=False,
                timeout=timeout_s, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([], 255, "", "no answer")

    def leave(self, path: str, text: str) -> None:
        """A file in the running machine, over ssh."""
        done = subprocess.run(self.ssh_command(f"cat >{path}"), input=text, text=True,
                              capture_output=True, check=False, timeout=600)  # fmt: skip
        assert done.returncode == 0, done.stderr

    def tell(self, command: str) -> str:
        """What a command in the machine says. Fails the test if it does not end well."""
        done = self.ssh(command)
        assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
        return done.stdout.strip()

    def status(self) -> dict[str, object]:
        """The box's own file; {} before there is one."""
        done = self.ssh("cat /run/interlude/status.json")
        return dict(json.loads(done.stdout)) if done.returncode == 0 else {}
