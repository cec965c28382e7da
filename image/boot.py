"""Makes the FAT file systems that the firmware reads: a slot's boot partition and bootconfig."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from image import disk, layout
from image.plan import ROOT, Plan, remove

_SOURCE = ROOT / "image/boot"


def slot(plan: Plan, name: str, kernel: Path, ramdisk: Path, into: Path) -> Path:
    """The FAT file system of slot `name` ("a" or "b"). Raises Misfit."""
    boot, system = layout.SLOTS[name]
    folder = plan.work / boot
    remove(folder)
    folder.mkdir(parents=True)
    shutil.copy(_SOURCE / "config.txt", folder / "config.txt")
    template = (_SOURCE / "cmdline.txt.in").read_text()
    cmdline = template.replace("@SYSTEM@", system).replace("@SLOT@", name)
    (folder / "cmdline.txt").write_text(cmdline)
    shutil.copy(kernel / "boot/kernel", folder / "kernel_2712.img")
    shutil.copy(ramdisk, folder / "initramfs_2712")
    for tree in plan.flavour.trees:
        shutil.copy(kernel / "boot" / tree, folder / tree)
    return _fat(plan, boot, folder, into)


def config(plan: Plan, into: Path) -> Path:
    """The FAT file system with autoboot.txt, which selects slot a. Raises Misfit."""
    folder = plan.work / "bootconfig"
    remove(folder)
    folder.mkdir(parents=True)
    (folder / "autoboot.txt").write_text(layout.autoboot("a"))
    return _fat(plan, "bootconfig", folder, into)


def _fat(plan: Plan, name: str, folder: Path, into: Path) -> Path:
    for path in folder.rglob("*"):
        os.utime(path, (plan.time_s, plan.time_s))
    path = into / f"{name}.fat"
    disk.fat(path, name, folder, layout.LAYOUT[layout.number(name) - 1].mib)
    remove(folder)
    return path
