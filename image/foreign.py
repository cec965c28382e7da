"""Registers qemu-user with binfmt_misc, so that the kernel runs the Pi's programs on this machine.

With the flag F the kernel opens qemu at registration, so it works inside any root file system and
need not be copied there. On an aarch64 machine there is nothing to do.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

from image.plan import MACHINE, NotBuilt

_FOLDER = Path("/proc/sys/fs/binfmt_misc")
_NAME = "interlude-aarch64"
# Header of an ELF file: 64 bit, little-endian, e_machine 183; the same as in qemu's own binfmt.d.
_MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
_MAGIC_READ = "7f454c460201010000000000000000000200b700"  # in the kernel's notation
_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"


def enable() -> None:
    """Register qemu, unless the Pi's programs can already be run here. Raises NotBuilt."""
    if platform.machine() == MACHINE:
        return
    # The static one: inside the root file system this machine's libraries are missing.
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if qemu is None:
        raise NotBuilt("qemu-aarch64 is missing.", "apt-get install qemu-user-static")
    try:
        if not (_FOLDER / "register").exists():
            subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", _FOLDER], check=True)
        if not _enabled():
            (_FOLDER / "register").write_text(f":{_NAME}:M::{_MAGIC}:{_MASK}:{qemu}:OCF\n")
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotBuilt(
            f"The kernel cannot be set up to run the Pi's programs ({error}).",
            "Build where root may mount binfmt_misc, or on a Pi.",
        ) from error


def _enabled() -> bool:
    """Whether any entry runs them and has flag F, so that it works inside a root file system."""
    for entry in _FOLDER.iterdir():
        if entry.name in ("register", "status"):
            continue
        lines = entry.read_text().splitlines()
        flags = next((line for line in lines if line.startswith("flags:")), "")
        magic = next((line for line in lines if line.startswith("magic ")), "")
        if lines[0] == "enabled" and "F" in flags and magic.endswith(_MAGIC_READ):
            return True
    return False
