"""Builds the initramfs: static busybox, e2fsck, modules and a script. Out: a compressed archive.

It is made on this machine, without emulation and without device files.
"""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from image.devicetree import drivers, hangs_on
from image.initramfs import FOLDER, KEPT, MODULES
from image.kernel import version_of
from image.plan import NotBuilt, Plan, once, remove


def make(plan: Plan, kernel: Path) -> Path:
    """Make the archive for that kernel, or return the cached one. Raises NotBuilt."""
    sources = [path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.is_file()]
    inputs: list[str | bytes] = [kernel.name, Path(__file__).read_bytes(), *sources]

    def write(path: Path) -> None:
        tree = path.with_name(".ramdisk.tree")
        remove(tree)
        try:
            _fill_tree(tree, kernel)
            path.write_bytes(_compressed(tree))
        finally:
            remove(tree)

    return once(plan.work, "initramfs", inputs, write)


def _fill_tree(tree: Path, kernel: Path) -> None:
    (tree / "bin").mkdir(parents=True)
    (tree / "lib").mkdir()
    for name in ("busybox", "e2fsck"):
        shutil.copy(kernel / "bin" / name, tree / "bin" / name)
    shutil.copy(FOLDER / "init", tree / "init")
    for path in (tree / "init", *(tree / "bin").iterdir()):
        path.chmod(0o755)
    (tree / "kept").write_text("".join(f"{line}\n" for line in KEPT))
    lay_modules(tree, _modules(kernel))


def lay_modules(tree: Path, modules: list[Path]) -> None:
    """Write the modules, decompressed, to the tree's /lib, and their order to /modules."""
    order = []
    for file in modules:
        name = file.name.removesuffix(".xz")
        data = file.read_bytes()
        (tree / "lib" / name).write_bytes(lzma.decompress(data) if file.suffix == ".xz" else data)
        order.append(f"/lib/{name}\n")
    (tree / "modules").write_text("".join(order))


def _modules(kernel: Path) -> list[Path]:
    """The module files to load, each after its dependencies."""
    found = needed(kernel, version_of(kernel), MODULES)
    if not any(path.name.startswith("erofs.ko") for path in found):
        raise NotBuilt(
            "The kernel has no erofs.", "Its packages are incomplete: remove them from the cache."
        )
    _check(found, kernel)
    return found


def needed(kernel: Path, version: str, names: Iterable[str]) -> list[Path]:
    """The files of those modules, each after its dependencies; built-in modules have no file."""
    found: list[Path] = []
    for name in names:
        done = subprocess.run(
            ["modprobe", "--dirname", kernel, "--set-version", version, "--show-depends", name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        for row in done.stdout.splitlines():
            kind, _, path = row.strip().partition(" ")
            if kind == "insmod" and Path(path) not in found:
                found.append(Path(path))
    return found


def _check(found: list[Path], kernel: Path) -> None:
    """Check for each board that the SD slot's drivers are among `found`. Raises NotBuilt."""
    aliases = (kernel / "lib/modules" / version_of(kernel) / "modules.alias").read_text()
    names = {path.name.partition(".")[0].replace("-", "_") for path in found}
    for tree in sorted((kernel / "boot").glob("*.dtb")):
        missing = sorted(drivers(hangs_on(tree.read_bytes()), aliases) - names)
        if missing:
            raise NotBuilt(
                f"According to {tree.name} the card needs {', '.join(missing)}.",
                "Add them to image/initramfs/modules.",
            )


def _compressed(tree: Path) -> bytes:
    """The tree as a reproducible cpio archive (newc, sorted, owner root, time 0) in zstd."""
    for path in (tree, *tree.rglob("*")):
        os.utime(path, (0, 0))
    names = "\n".join([".", *sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))])
    archive = subprocess.run(
        ["cpio", "--create", "--format=newc", "--owner=0:0", "--reproducible", "--quiet"],
        cwd=tree, input=names.encode(), capture_output=True, check=True,
    ).stdout  # fmt: skip
    return subprocess.run(["zstd", "-q", "-19", "-c"], input=archive, capture_output=True,
                          check=True).stdout  # fmt: skip
