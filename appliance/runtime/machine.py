"""Reads the properties of this machine from /proc, /sys and /dev below `root`.

A reading that is not available is None: a laptop has no throttle register, a container no sensors.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CAP_IPC_LOCK, CAP_SYS_NICE = 14, 23  # capabilities(7): lock memory, FIFO scheduling
UNLIMITED = 1 << 62

# Bits of a Pi's throttle register; bits 16 and up mean the same at any time since its start.
LOW_VOLTAGE = "the supply voltage is too low"
_THROTTLED = {
    0: LOW_VOLTAGE,
    1: "the clock is capped",
    2: "the processor is throttled",
    3: "the temperature limit is reached",
}
_SINCE_START = 16


@dataclass(frozen=True)
class Machine:
    """A view of one machine. `root`: / or a test's folder. `process`: id of the process whose cores
    and limits are read."""

    root: Path = Path("/")
    process: str = "self"
    access: Callable[[Path, int], bool] = os.access

    def name(self) -> str:
        """The model name of a single-board computer, e.g. Raspberry Pi 5 Model B; else ''."""
        return self._text("proc/device-tree/model").strip("\0\n ")

    def is_pi(self) -> bool:
        """Whether it is a Raspberry Pi, by the device tree's `compatible` property."""
        return "raspberrypi," in self._text("proc/device-tree/compatible")

    def hats(self) -> list[tuple[str, str]]:
        """Vendor and product of each HAT with an EEPROM; HAT+ boards may be stacked."""
        folders = sorted(self.root.glob("proc/device-tree/hat*/"))
        names = ("vendor", "product")
        found = [[self._text(folder / name).strip("\0\n ") for name in names] for folder in folders]
        return [(vendor, product) for vendor, product in found if vendor or product]

    def serial(self) -> str:
        """The board's serial number in lower case; '' if there is none."""
        return self._text("proc/device-tree/serial-number").strip("\0\n ").lower()

    def machine_id(self) -> str:
        """systemd's id of this installation, which must not be published: see machine-id(5)."""
        return self._text("etc/machine-id").strip()

    def mac(self) -> str:
        """MAC address of the first network card, wired before wireless; '' if there is none."""
        cards = [p.parent for p in self.root.glob("sys/class/net/*/device")]  # a bridge has none
        cards.sort(key=lambda card: ((card / "wireless").exists(), card.name))
        addresses = [self._text(card / "address").strip().lower() for card in cards]
        return next((a for a in addresses if re.fullmatch(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", a)), "")

    def cores(self) -> frozenset[int]:
        """The cores on which the process and its children may run."""
        allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", self._status(), re.MULTILINE)
        if allowed is None:
            return frozenset()
        found: set[int] = set()
        for part in allowed[1].split(","):
            first, _, last = part.partition("-")
            found.update(range(int(first), int(last or first) + 1))
        return frozenset(found)

    def memory_mib(self) -> int | None:
        """Total memory, free or not."""
        total = re.search(r"^MemTotal:\s*(\d+) kB", self._text("proc/meminfo"), re.MULTILINE)
        return int(total[1]) // 1024 if total else None

    def memory_used_percent(self) -> int | None:
        """Memory in use, in percent of all; memory that the kernel can reclaim does not count."""
        text = self._text("proc/meminfo")
        total = re.search(r"^MemTotal:\s*(\d+) kB", text, re.MULTILINE)
        free = re.search(r"^MemAvailable:\s*(\d+) kB", text, re.MULTILINE)
        if total is None or free is None or not int(total[1]):
            return None
        return round(100 * (1 - int(free[1]) / int(total[1])))

    def up_s(self) -> int | None:
        """Seconds since the boot."""
        fields = self._text("proc/uptime").split()
        return int(float(fields[0])) if fields else None

    def free_disk_mib(self, folder: Path) -> int | None:
        """Free space for this user on the file system of `folder`, which need not exist."""
        for place in (folder, *folder.parents):
            if place.is_dir():
                return shutil.disk_usage(place).free >> 20
        return None

    def writable(self, folder: Path) -> bool:
        """Whether `folder` can be written, or created."""
        there = next((place for place in (folder, *folder.parents) if place.exists()), None)
        return there is not None and there.is_dir() and self.access(there, os.W_OK | os.X_OK)

    def may_schedule(self) -> int:
        """The highest FIFO priority that the process may set; 0: none."""
        return 99 if self._capable(CAP_SYS_NICE) else self._limit("Max realtime priority")

    def may_lock_mib(self) -> int:
        """Memory that the process may lock, in MiB."""
        return (
            UNLIMITED if self._capable(CAP_IPC_LOCK) else self._limit("Max locked memory")
        ) >> 20

    def temperature_c(self) -> float | None:
        """Temperature of the processor's hottest sensor; None if there is no sensor."""
        read = [self._text(path) for path in self.root.glob("sys/class/thermal/thermal_zone*/temp")]
        return max((int(t) / 1000 for t in read if t.strip().lstrip("-").isdigit()), default=None)

    def throttled(self) -> tuple[list[str], list[str]]:
        """What throttles a Pi now, and what has since its start; empty lists on other machines."""
        register = 0
        for path in self.root.glob("sys/devices/platform/soc*/*firmware/get_throttled"):
            text = self._text(path).strip()
            register |= int(text, 16) if re.fullmatch(r"(0x)?[0-9a-fA-F]+", text) else 0
        for path in self.root.glob("sys/class/hwmon/hwmon*/in0_lcrit_alarm"):
            if self._text(path.with_name("name")).strip() == "rpi_volt":
                register |= int(self._text(path).strip() == "1")
        now = [what for bit, what in _THROTTLED.items() if register >> bit & 1]
        since = [what for bit, what in _THROTTLED.items() if register >> bit + _SINCE_START & 1]
        return now, [what for what in since if what not in now]

    def can_be_throttled(self) -> bool:
        """Whether this machine has the throttle register."""
        return any(self.root.glob("sys/devices/platform/soc*/*firmware/get_throttled"))

    def sound_devices(self) -> tuple[list[Path], list[Path]]:
        """Device files of the sound cards: those that this user may open, and the others."""
        found = sorted(self.root.glob("dev/snd/pcmC*"))
        allowed = [path for path in found if self.access(path, os.R_OK | os.W_OK)]
        return allowed, [path for path in found if path not in allowed]

    def _limit(self, name: str) -> int:
        """A soft limit of the process (proc(5)); 0 if there is no such line."""
        limits = self._text(f"proc/{self.process}/limits")
        found = re.search(rf"^{name}\s+(\S+)", limits, re.MULTILINE)
        if found is None:
            return 0
        return UNLIMITED if found[1] == "unlimited" else int(found[1])

    def _capable(self, bit: int) -> bool:
        mask = re.search(r"^CapEff:\s*([0-9a-f]+)", self._status(), re.MULTILINE)
        return mask is not None and bool(int(mask[1], 16) >> bit & 1)

    def _status(self) -> str:
        return self._text(f"proc/{self.process}/status")

    def _text(self, path: str | Path) -> str:
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:  # not on this kind of machine, or a sensor that cannot be read now
            return ""
