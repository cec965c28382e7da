"""Emulates the Pi's firmware: reads with mtools from an image which slot the card starts.

It implements: autoboot.txt on the first partition; `boot_partition` of [all], or of [tryboot] for
one start after `reboot "0 tryboot"` if tryboot_a_b is set; then config.txt and the files that it
names on that partition. A start without a kernel fails and still clears the tryboot flag
(raspberrypi.com/documentation, config.txt). It has not been compared with the real firmware.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TRYBOOT = "0 tryboot"  # argument of `reboot`


class NoStart(Exception):
    """The firmware found nothing to start."""


@dataclass(frozen=True)
class Started:
    """What the firmware starts: the boot partition's number, kernel, initramfs and command line."""

    partition: int
    kernel: bytes
    initramfs: bytes
    cmdline: str


@dataclass
class Firmware:
    """The firmware with one card.

    `fats`: the FAT partitions by number, in mtools' notation (FILE or FILE@@BYTE). `restart` sets
    the one-shot flag `tryboot`; `start` clears it.
    """

    fats: dict[int, str]
    tryboot: bool = False

    def restart(self, words: str = "") -> Started:
        """Start as after `reboot WORDS`. Raises NoStart."""
        self.tryboot = words == TRYBOOT
        return self.start()

    def start(self) -> Started:
        """Start as after power-on. Raises NoStart."""
        is_trial, self.tryboot = self.tryboot, False
        boot = _settings(self._text(1, "autoboot.txt"), is_trial)
        if is_trial and boot.get("tryboot_a_b") != "1":
            raise NoStart("autoboot.txt does not allow a trial of the other slot")
        number = int(boot.get("boot_partition", "1"))
        config = _settings(self._text(number, "config.txt"), is_trial=False)
        kernel = self._file(number, config.get("kernel", "kernel_2712.img"))
        initramfs = b""
        if config.get("auto_initramfs") == "1":
            name = config.get("kernel", "kernel_2712.img")
            initramfs = self._file(number, f"initramfs{name[6:].removesuffix('.img')}")
        cmdline = self._text(number, config.get("cmdline", "cmdline.txt")).strip()
        return Started(number, kernel, initramfs, cmdline)

    def _text(self, number: int, name: str) -> str:
        return self._file(number, name).decode("ascii", errors="replace")

    def _file(self, number: int, name: str) -> bytes:
        fat = self.fats.get(number)
        if fat is None:
            raise NoStart(f"there is no partition {number}")
        done = subprocess.run(
            ["mtype", "-i", fat, f"::{name}"], capture_output=True, check=False, timeout=60
        )
        if done.returncode or not done.stdout:
            raise NoStart(f"partition {number} has no {name}")
        return done.stdout


def places(image: Path, offsets: dict[str, int], names: tuple[str, ...]) -> dict[int, str]:
    """The FAT partitions of an image by number, for Firmware; `names` are in partition order."""
    return {number: f"{image}@@{offsets[name]}" for number, name in enumerate(names, 1)}


def _settings(text: str, is_trial: bool) -> dict[str, str]:
    """The values of config.txt or autoboot.txt that apply: [all] and, if `is_trial`, [tryboot]."""
    section, values = "all", {}
    for line in map(str.strip, text.splitlines()):
        if found := re.fullmatch(r"\[(.+)\]", line):
            section = found[1]
        elif (
            "=" in line
            and not line.startswith("#")
            and (section == "all" or (section == "tryboot" and is_trial))
        ):
            key, _, value = line.partition("=")
            values[key.strip()] = value.strip()
    return values
