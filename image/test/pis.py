"""Boxes with two system slots: a card's partitions as files, and an emulation of the Pi's firmware.

A container that reboots ends. Then Firmware reads the card with the argument of `reboot`, which the
box has written to a file, and the container starts again. The first line of a system is its
version, which decides how the box acts (`kinds`). Both systems share all other files and `data`.
"""

from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from appliance.update.system.slot import CONFIG, SLOTS, autoboot, named
from image.firmware import Firmware
from image.test.boxes import Box
from tests.update.system.workshop import FAT_MIB, SYSTEM_BYTES, Made, copy_sparse, fat

STARTS_ANEW = 133  # exit code of systemd-nspawn when the container asks for a reboot
KIND = "usr/lib/interlude/kind"  # see tiny.py
WORDS = "words"
# Units that are disabled: a container has no partition to grow and no NetworkManager.
WITHOUT = ("interlude-grow.service", "interlude-setup.service", "interlude-setup.path",
           "interlude-setup.timer")  # fmt: skip
# systemd-shutdown runs this last. A Pi's firmware gets the argument from the kernel.
LAST_WORDS = f"""#!/bin/sh
cp /run/systemd/reboot-param /dev/disk/by-partlabel/{WORDS} 2>/dev/null
"""
OS_RELEASE = "PRETTY_NAME=Interlude\nIMAGE_ID=interlude\nIMAGE_VERSION={}\n"
# The files that image/initramfs/init writes, and a device that Raspberry Pi's kernel has.
FIRST_WORDS = """d /run/interlude-start 0755 root root -
f /run/interlude-start/slot 0644 root root - {slot}
f /run/interlude-start/trial 0644 root root - {trial}
f /dev/vcio 0600 root root -
"""


@dataclass
class Pi(Box):
    """A box with two system slots.

    first  the system in slot a of a new card
    kinds  version → how the box acts on that system, if not well (tiny.py)
    """

    first: Made | None = None
    kinds: dict[str, str] = field(default_factory=dict)
    starts: list[str] = field(default_factory=list)  # the version of each
    _on: bool = field(default=False, init=False)

    @property
    def card(self) -> Path:
        return self.scratch / self.name / "card"

    def make(self) -> None:
        """Make a box, and a card with its first system in slot a."""
        super().make()
        first = self.first
        assert first is not None
        self.card.mkdir(parents=True)
        config = fat(self.scratch / self.name / "config.fat",
                     {"autoboot.txt": autoboot("a").encode()})  # fmt: skip
        for name, source, size in (
            (CONFIG, config, FAT_MIB << 20),
            ("boot_a", first.boot, FAT_MIB << 20),
            ("boot_b", None, FAT_MIB << 20),
            ("system_a", first.system, 2 * SYSTEM_BYTES),
            ("system_b", None, 2 * SYSTEM_BYTES),
        ):
            if source is None:
                (self.card / name).touch()
            else:
                copy_sparse(source, self.card / name)
            os.truncate(self.card / name, size)
        self.options = (f"--bind={self.card}:/dev/disk/by-partlabel",)
        (self.root / "data/keep").mkdir(parents=True)
        for unit in WITHOUT:
            beside = self.root / f"etc/systemd/system/{unit}.d"
            beside.mkdir()
            (beside / "without.conf").write_text("[Unit]\nConditionPathExists=/never\n")
        last = self.root / "usr/lib/systemd/system-shutdown/words"
        last.parent.mkdir(parents=True, exist_ok=True)
        last.write_text(LAST_WORDS)
        last.chmod(0o755)

    def start(self) -> subprocess.Popen[bytes]:
        """Power on: starts the slot that autoboot.txt selects, and again after each reboot."""
        self._on = True
        runs = self._power("")
        threading.Thread(target=self._watch, args=(runs,), daemon=True).start()
        return runs

    def cut_power(self) -> None:
        self._on = False
        super().cut_power()

    def _watch(self, runs: subprocess.Popen[bytes]) -> None:
        while runs.wait() == STARTS_ANEW and self._on:
            words = self.card / WORDS
            said = words.read_text().strip() if words.exists() else ""
            words.unlink(missing_ok=True)
            runs = self._power(said)

    def _power(self, words: str) -> subprocess.Popen[bytes]:
        names = (CONFIG, *(slot.boot for slot in SLOTS.values()))
        fats = {number: str(self.card / name) for number, name in enumerate(names, 1)}
        started = Firmware(fats).restart(words)
        slot = named(started.cmdline)
        assert slot is not None, started.cmdline
        with (self.card / SLOTS[slot].system).open("rb") as system:
            version = system.readline().decode().strip()
        self.starts.append(version)
        (self.root / "usr/lib/os-release").write_text(OS_RELEASE.format(version))
        kind = self.root / KIND
        kind.parent.mkdir(parents=True, exist_ok=True)
        kind.write_text(self.kinds.get(version, ""))
        told = FIRST_WORDS.format(slot=slot, trial="yes" if words else "no")
        (self.root / "usr/lib/tmpfiles.d/first-words.conf").write_text(told)
        self.told = (f"interlude.slot={slot}",)
        return super().start()
