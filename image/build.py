"""`make image`: builds the SD card's image from Debian's packages and this tree.

Each step is a module of this folder, whose docstring names its inputs and outputs. The result of a
step is cached and made again only when its inputs have changed. Intermediate files are in
build/image/, the files that an owner downloads in dist/, and results that take long to make in
~/.cache/interlude/image. The build has no private key; scripts/sign.py signs its files afterwards.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from appliance import __version__
from appliance.errors import InterludeError
from appliance.update import signature
from image import boot, foreign, freight, kernel, ramdisk, roles, root, slot, tools, voices, wheels
from image.disk import Misfit
from image.kernels import FLAVOURS
from image.plan import ROOT, NotBuilt, Plan, cache_folder, commit_time_s, once, remove
from image.publish import publish
from scripts.progress import took

Made = TypeVar("Made")
STEPS = 10
_SLOT_SOURCES = ("roles.py", "inside.py", "slot.py", "sbom.py", "disk.py", "layout.py", "tree.py",
                 "initramfs/kept")  # fmt: skip


class Teller:
    """Prints the title of each step and how long it took."""

    def __init__(self) -> None:
        self._count = 0
        self._start = time.monotonic()

    def step(self, title: str, do: Callable[[], Made]) -> Made:
        self._count += 1
        print(f"── {self._count}/{STEPS} {title}", flush=True)
        start = time.monotonic()
        made = do()
        elapsed_s = time.monotonic() - start
        print(f"   {'cached' if elapsed_s < 0.5 else took(elapsed_s)}", flush=True)
        return made

    def all(self) -> str:
        return took(time.monotonic() - self._start)


def build(plan: Plan, teller: Teller) -> list[Path]:
    """Run all steps; returns the files that were made. Raises NotBuilt, Misfit."""
    plan.logs.mkdir(parents=True, exist_ok=True)
    step = teller.step
    step("Requirements of this machine", lambda: _check_machine(plan))
    debian = step("Debian for the Pi", lambda: root.make(plan))
    linux = step(f"The kernel ({plan.flavour.name})", lambda: kernel.make(plan))
    built_wheels = step("Wheels that are not published", lambda: wheels.make(plan))
    bare = once(plan.work, "bare", [debian.name], lambda path: root.unpack(debian, path))
    release = step("The release", lambda: freight.make(plan, bare, built_wheels))
    voice_bundle = step(
        "The program of voices, beside the release", lambda: voices.make(plan, bare)
    )
    slot_files = step(
        "Roles, and the system's slot", lambda: _slot(plan, debian, linux, release, voice_bundle)
    )
    initramfs = step("The initramfs", lambda: ramdisk.make(plan, linux))
    boot_files = step("The firmware's partitions", lambda: _boot_partitions(plan, linux, initramfs))
    return step("The card", lambda: publish(plan, slot_files, boot_files, release))


def _check_machine(plan: Plan) -> None:
    tools.check(plan)
    foreign.enable()


def _slot(plan: Plan, debian: Path, linux: Path, release: Path, voice_bundle: Path) -> Path:
    inputs: list[str | bytes] = [
        plan.version, str(plan.time_s), plan.signers, debian.name, linux.name,
        release.parent.name, voice_bundle.parent.name,
    ]  # fmt: skip
    sources = [path for part in ("ansible", "system") for path in (ROOT / part).rglob("*")]
    sources += [ROOT / "image" / name for name in _SLOT_SOURCES]
    for path in sorted(path for path in sources if path.is_file()):
        inputs += [str(path.relative_to(ROOT)), path.read_bytes()]

    def write(path: Path) -> None:
        tree = plan.work / "tree"
        remove(tree)
        root.unpack(debian, tree)
        print(f"   {roles.apply(plan, tree, release, [voice_bundle])}", flush=True)
        roles.trust(tree, plan.signers)
        slot.finish(plan, tree, linux, path)

    return once(plan.work, "slot", inputs, write)


def _boot_partitions(plan: Plan, linux: Path, initramfs: Path) -> dict[str, Path]:
    """FAT file systems by partition. Slot b stays empty until an update writes a system to it."""
    folder = plan.work / "fat"
    folder.mkdir(exist_ok=True)
    return {
        "bootconfig": boot.config(plan, folder),
        "boot_a": boot.slot(plan, "a", linux, initramfs, folder),
    }


def signers_of(file: Path) -> str:
    """The text of allowed_signers for the public keys in `file`, which is a .pub or such a text.

    Raises NotBuilt."""
    text = signature.read_signers(file) or ""
    if "PRIVATE KEY" in text:
        raise NotBuilt(f"{file} is a private key.", "The build gets its public half alone.")
    if not (keys := signature.public_keys(text)):
        problem = f"{file} has no public ssh key."
        raise NotBuilt(problem, "ssh-keygen -t ed25519 -f ~/.ssh/interlude-release makes one.")
    return signature.signers_text(keys, signature.least_signatures(text))


def main() -> int:
    parser = argparse.ArgumentParser(description="Make a card for the Pi 5, as one file.")
    parser.add_argument("--signers", type=Path, required=True, metavar="FILE",
                        help="public ssh keys: the box installs what they sign")  # fmt: skip
    parser.add_argument("--flavour", choices=FLAVOURS, default="debian", help="which kernel")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="a folder (dist)")
    parser.add_argument("--work", type=Path, default=ROOT / "build/image", help="a folder")
    parser.add_argument(
        "--fresh", action="store_true", help="Debian's newest packages, not the cached"
    )
    args = parser.parse_args()
    os.umask(0o022)  # file modes in the image do not depend on the builder's umask
    teller = Teller()
    try:
        signers = signers_of(args.signers)
        plan = Plan(__version__, FLAVOURS[args.flavour], signers, args.work.resolve(),
                    cache_folder(), args.into.resolve(), commit_time_s())  # fmt: skip
        if args.fresh:
            for old in (*plan.cache.glob("root-*"), *plan.cache.glob("kernel-*")):
                remove(old)
        made = build(plan, teller)
    except (InterludeError, Misfit) as error:
        print(f"No image: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 70)
    except OSError as error:
        print(f"No image: {error.filename or 'the disk'}: {error.strerror}.", file=sys.stderr)
        return 74
    print(f"── {teller.all()} in all")
    for path in made:
        print(f"   {path}: {path.stat().st_size / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
