"""Downloads the kernel's packages and unpacks their files. Out: a folder with these files.

    boot/kernel          what the firmware starts (an uncompressed arm64 Image)
    boot/*.dtb           the device trees of the Pi 5, by the firmware's names
    lib/modules/VERSION  the modules, with their index
    bin/                 busybox and e2fsck, both static, for the initramfs
    packages.tsv         packages and versions, for the SBOM

Installing the package would build an initramfs under emulation, which takes seven minutes.
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
_ZBOOT = b"zimg"  # at offset 4 of an EFI zboot image; the payload's offset, length and type follow


def make(plan: Plan) -> Path:
    """Make the folder, or return the cached one. Raises NotBuilt."""
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
        kernel_packages = _siblings(
            archive, flavour.package, archive.version(flavour.package, suite)
        )
        tools = [(tool, archive.version(tool)) for tool in TOOLS]
        specifiers = [f"{name}={version}" for name, version in (*kernel_packages, *tools)]
        raw, scratch = path.with_name(".kernel.raw"), path.with_name(".kernel.debs")
        for folder in (raw, scratch):
            remove(folder)
        try:
            archive.unpack(specifiers, raw, scratch)
            _arrange(plan, raw, path)
            rows = "".join(f"{name}\t{version}\n" for name, version in (*kernel_packages, *tools))
            (path / "packages.tsv").write_text(rows)
        finally:
            for folder in (raw, scratch):
                remove(folder)

    # The version is no input: backports may change within an hour, and a build must be repeatable.
    # `--fresh` looks for a newer version.
    inputs: list[str | bytes] = [*sources, flavour.package, *TOOLS, Path(__file__).read_bytes()]
    return once(plan.cache, f"kernel-{flavour.name}", inputs, write)


def version_of(kernel: Path) -> str:
    """The kernel's version, in the form of `uname -r`."""
    return next((kernel / "lib/modules").iterdir()).name


def _siblings(archive: archives.Archives, package: str, version: str) -> list[tuple[str, str]]:
    """`package` and, transitively, what it needs of the same source package."""
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
        raise NotBuilt("The kernel's packages have no modules.", "Is the archive complete?")
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
    """Extract the arm64 Image that the Pi's firmware starts from an EFI zboot, gzip or zstd file.

    zboot's format: linux/include/linux/efi.h and drivers/firmware/efi/libstub/zboot-header.S.
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
        raise NotBuilt("The kernel's compression is not supported.", "Use another kernel.")
    return kernel
