"""A machine that boots the card: QEMU's `virt` with a Cortex-A76, started as by the Pi's firmware.

It boots the files on the card: autoboot.txt selects the slot, and the slot's FAT file system has
kernel, initramfs and command line. It is not the Pi: no Pi firmware, no RP1, no radio. KVM is not
used, even if /dev/kvm exists, so that the host need not be a Pi.

The guest's clock counts executed instructions (-icount), GIPS billions a second of the guest. The
guest is slow for us but not for itself: sound, watchdogs and timeouts are as on a machine of that
speed, however busy this one is. When all cores idle, the clock skips to the next timer. QEMU counts
at most one instruction a nanosecond; the device tree therefore gives a timer rate that is too high
by the factor GIPS.
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

CARD_GIB = 8  # QEMU requires a power of two
LIMIT_S = 1800.0  # host time for a start, which takes 2 minutes on an idle PC and 7 on a busy one
# Billions of instructions a second, of all four cores together. A Pi 5 has four at 2.4 GHz with one
# instruction a cycle and more: 10 to 20. Less here, since QEMU does not model waits for memory.
GIPS = 8
_TIMER_HZ = 62_500_000  # QEMU's generic timer of a Cortex-A76
_SSH = ("-q", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
        "-o", "ConnectTimeout=300", "-o", "BatchMode=yes", "-o", "ControlMaster=auto",
        "-o", "ControlPersist=yes")  # fmt: skip


class NeverCame(Exception):
    """The machine did not start; the end of its console says why."""


@dataclass
class Card:
    """A copy of an image that a machine may write to."""

    image: Path

    @classmethod
    def copy(cls, of: Path, to: Path) -> Card:
        """Copy the image sparsely and enlarge it to CARD_GIB: cards are larger than an image."""
        disk.tell("cp", "--sparse=always", "--reflink=auto", of, to)
        os.truncate(to, CARD_GIB << 30)
        return cls(to)

    def places(self) -> dict[str, int]:
        return disk.offsets(self.image)

    def put(self, name: str, file: str, text: str, scratch: Path) -> None:
        """Write a text file to a FAT partition, as an owner's computer does."""
        (scratch / "put").write_text(text)
        place = f"{self.image}@@{self.places()[name]}"
        disk.tell("mcopy", "-o", "-i", place, scratch / "put", f"::{file}")

    def put_bytes(self, name: str, data: bytes) -> None:
        """Overwrite the start of a partition, to simulate damage; not while a machine runs."""
        with self.image.open("r+b") as file:
            file.seek(self.places()[name])
            file.write(data)

    def keep(self, files: dict[str, str], scratch: Path, mode: int = 0o600) -> None:
        """Write files owned by root to `data`, by path, as if left there by an earlier start."""
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
    """The machine with a card. Firmware (firmware.py) decides what it boots."""

    card: Card
    scratch: Path
    key: Path
    cores: int = 4
    memory_mib: int = 2048
    more: tuple[str, ...] = ()
    words: str = ""  # appended to the slot's kernel command line
    online: bool = False
    tap: str = ""  # tap device on this machine for the test's network; "": QEMU's user network
    header: bool = False  # the device tree has the Pi's 28 pins (the kernel's gpio-simulator)
    address: str = "127.0.0.1"  # of its ssh server
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
        """Start as after power-on, or as after `reboot RESTART`. Raises NoStart."""
        begun = self._firmware.start() if restart is None else self._firmware.restart(restart)
        (self.scratch / "kernel").write_bytes(begun.kernel)
        (self.scratch / "initramfs").write_bytes(begun.initramfs)
        said = begun.cmdline.replace(" quiet", "")
        said += " console=ttyAMA0 net.ifnames=0 systemd.getty_auto=0"
        # Units' messages go to the console, in case ssh does not work.
        said += " systemd.show_status=0 systemd.journald.forward_to_console=1"
        if restart == TRYBOOT:
            said += " interlude.trial=1"  # QEMU's device tree lacks the firmware's property for it
        tree = self._device_tree()
        if self.tap:
            self.port = 22
            network = f"tap,id=n0,ifname={self.tap},script=no,downscript=no"
        else:
            network = (f"user,id=n0,restrict={'off' if self.online else 'on'}"
                       f",hostfwd=tcp:127.0.0.1:{self.port}-:22")  # fmt: skip
        noon = f"{datetime.now(UTC):%Y-%m-%d}T12:00:00"  # by day: the light is dimmed at night
        command = [
            "setpriv", "--pdeathsig", "KILL",  # ends with the test process, however that ends
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
        """QEMU's device tree with the timer's rate multiplied by GIPS, and pins if `header`."""
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
        """Wait until `command` succeeds in the machine. Returns the seconds since its start."""
        assert self._runs is not None
        while self.ssh(command).returncode:
            if self._runs.poll() is not None or time.monotonic() - self._begun > limit_s:
                tail = "\n".join(self.console.splitlines()[-30:])
                raise NeverCame(f"`{command}` never succeeded; the console ends with\n{tail}")
            time.sleep(3.0)
        return time.monotonic() - self._begun

    def ends(self, limit_s: float = LIMIT_S) -> None:
        """Wait until it powers off or reboots (QEMU has -no-reboot and ends)."""
        assert self._runs is not None
        self._runs.wait(limit_s)

    def goes_down(self, limit_s: float = LIMIT_S) -> str:
        """Wait until it reboots. Returns the argument of `reboot`, which the kernel logs."""
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
        """Run a command. All share one connection: a handshake takes the emulated machine 30 s."""
        try:
            return subprocess.run(
                self.ssh_command(command), capture_output=True, text=True, check=False,
                timeout=timeout_s, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([], 255, "", "no answer")

    def leave(self, path: str, text: str) -> None:
        """Write a file in the running machine, over ssh."""
        done = subprocess.run(self.ssh_command(f"cat >{path}"), input=text, text=True,
                              capture_output=True, check=False, timeout=600)  # fmt: skip
        assert done.returncode == 0, done.stderr

    def tell(self, command: str) -> str:
        """The output of a command in the machine. The test fails if the command fails."""
        done = self.ssh(command)
        assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
        return done.stdout.strip()

    def status(self) -> dict[str, object]:
        """The content of the box's status file; {} while there is none."""
        done = self.ssh("cat /run/interlude/status.json")
        return dict(json.loads(done.stdout)) if done.returncode == 0 else {}
