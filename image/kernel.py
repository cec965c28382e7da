"""The kernel: its packages fetched and unpacked as files. Out: a folder with all that boots.

    boot/kernel          what the firmware starts (a plain arm64 Image)
    boot/*.dtb           the device trees of the Pi 5, by the firmware's names
    lib/modules/VERSION  the modules, with their index
    bin/                 busybox and e2fsck, both static, for the initramfs
    packages.tsv         what it is made of, for the SBOM

Installing a kernel by its package would make an initramfs under emulation, for seven minutes.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

from image import archives
from image.plan import NotBuilt, Plan, once, remove
from image.tools import ask

TOOLS = ("busybox-static", "e2fsck-static")
_ZBOOT = b"zimg"  # at 4 in an EFI zboot image; payload's place and length follow, and its kind


def make(plan: Plan) -> Path:
    """The folder. Raises NotBuilt."""
    flavour = plan.flavour
    sources = archives.sources(flavour.suites)
    if flavour.source:
        line = os.environ.get(flavour.source)
        if not line:
            raise NotBuilt(
                f"The kernel {flavour.name} comes from an archive that this machine does not name.",
                f'Name it: {flavour.source}="deb [signed-by=…] URI SUITE main".',
            )
        sources.append(line)

    def write(path: Path) -> None:
        archive = archives.Archives(plan.work / "apt", sources, plan.logs)
        archive.refresh()
        suite = flavour.suites[0] if flavour.suites else "*"
        wanted = _siblings(archive, flavour.package, archive.version(flavour.package, suite))
        tools = [(tool, archive.version(tool)) for tool in TOOLS]
        named = [f"{name}={number}" for name, number in (*wanted, *tools)]
        raw, scratch = path.with_name(".kernel.raw"), path.with_name(".kernel.debs")
        for folder in (raw, scratch):
            remove(folder)
        try:
            archive.unpack(named, raw, scratch)
            _arrange(plan, raw, path)
            rows = "".join(f"{name}\t{number}\n" for name, number in (*wanted, *tools))
            (path / "packages.tsv").write_text(rows)
        finally:
            for folder in (raw, scratch):
                remove(folder)

    # Not the version: backports move from one hour to the next, and the same input is to make the
    # same image. `--fresh` looks for a newer one.
    inputs: list[str | bytes] = [*sources, flavour.package, *TOOLS, Path(__file__).read_bytes()]
    return once(plan.cache, f"kernel-{flavour.name}", inputs, write)


def version_of(kernel: Path) -> str:
    """Of the modules, as `uname -r` says it."""
    return next((kernel / "lib/modules").iterdir()).name


def _siblings(archive: archives.Archives, package: str, version: str) -> list[tuple[str, str]]:
    """`package` and what it needs of its own build, by and by."""
    found, waiting = [], [(package, version)]
    while waiting:
        row = waiting.pop()
        if row not in found:
            found.append(row)
            waiting += archive.depends(*row)
    return sorted(found)


def _arrange(plan: Plan, raw: Path, path: Path) -> None:
    modules = next(iter(sorted((raw / "usr/lib/modules").glob("*"))), None)
    if modules is None:
        modules = next(iter(sorted((raw / "lib/modules").glob("*"))), None)
    if modules is None:
        raise NotBuilt("The kernel's packages have no modules.", "Is the archive whole?")
    (path / "boot").mkdir(parents=True)
    kernels = [*modules.glob("vmlinuz"), *(raw / "boot").glob("vmlinuz-*")]
    (path / "boot/kernel").write_bytes(plain(kernels[0].read_bytes()))
    for ours, theirs in plan.flavour.trees.items():
        found = [*modules.glob(f"dtb/{theirs}"), *(raw / "usr/lib").glob(f"linux-image-*/{theirs}")]
        if not found:
            raise NotBuilt(f"The kernel has no {theirs}.", "It is too old for the Pi 5.")
        shutil.copy(found[0], path / "boot" / ours)
    target = path / "lib/modules" / modules.name
    shutil.copytree(modules, target, symlinks=True, ignore=shutil.ignore_patterns(
        "vmlinuz", "dtb", "build", "source", "System.map", "vdso"))  # fmt: skip
    ask("The modules cannot be listed", "depmod", "--basedir", path, modules.name)
    (path / "bin").mkdir()
    shutil.copy(raw / "usr/bin/busybox", path / "bin/busybox")
    static = [*(raw / "sbin").glob("e2fsck.static"), *(raw / "usr/sbin").glob("e2fsck.static")]
    shutil.copy(static[0], path / "bin/e2fsck")


def plain(kernel: bytes) -> bytes:
    """The kernel as the Pi's firmware takes it: out of an EFI wrapper, out of gzip or zstd.

    The wrapper's form: linux/include/linux/efi.h and drivers/firmware/efi/libstub/zboot-header.S.
    """
    if kernel[4:8] == _ZBOOT:
        begin, size = (int.from_bytes(kernel[at : at + 4], "little") for at in (8, 12))
        kernel = kernel[begin : begin + size]
    if kernel[:2] == b"\x1f\x8b":
        kernel = gzip.decompress(kernel)
    elif kernel[:4] == b"\x28\xb5\x2f\xfd":
        kernel = subprocess.run(
            ["zstd", "-dcq"], input=kernel, capture_output=True, check=True
        ).stdout
    if kernel[56:60] != b"ARM\x64":
        raise NotBuilt("The kernel is packed in a way that is not known here.", "Use another one.")
    return kernel
