"""Writes the files that an owner downloads: image, block map, checksums and SBOM.

scripts/sign.py signs them."""

from __future__ import annotations

import shutil
from pathlib import Path

from appliance.errors import ReleaseRefused
from appliance.models.model_disk import sha256_of
from appliance.update.system import pack
from image import disk, imager, tree
from image.bmap import block_map
from image.plan import MACHINE, NotBuilt, Plan
from image.tools import quietly

_LEVEL = "-12"  # of zstd: 19 saves 4 % and takes eight times as long


def publish(plan: Plan, slot: Path, boots: dict[str, Path], release: Path) -> list[Path]:
    """Write the files to `plan.into` and return them, the image first. Raises NotBuilt."""
    plan.into.mkdir(parents=True, exist_ok=True)
    image = plan.work / f"{plan.name}.img"
    parts = {**boots, "system_a": slot / "system.erofs", "data": slot / "data.ext4"}
    disk.assemble(image, parts, plan.version)
    packed = plan.into / f"{plan.name}.img.zst"
    quietly("The image cannot be packed", "Is the disk full?", plan.logs / "zstd.log",
            "zstd", "--quiet", "--force", _LEVEL, "-T0", image, "-o", packed)  # fmt: skip
    (plan.into / f"{plan.name}.bmap").write_text(block_map(image))
    shutil.copy(slot / "sbom.json", plan.into / f"{plan.name}.cdx.json")
    (plan.into / f"{plan.name}.tree").write_text(_trees(slot))
    listed = plan.into / f"{plan.name}{imager.SUFFIX}"
    listed.write_text(imager.manifest(packed, image, plan.version, plan.time_s))
    try:
        system = pack.pack(boots["boot_a"], slot / "system.erofs", plan.into,
                           version=plan.version, machine=MACHINE, made_s=plan.time_s,
                           level=1)  # fmt: skip
        shutil.copy(release, plan.into / release.name)
        made = [
            packed,
            system,
            plan.into / release.name,
            listed,
            *(plan.into / f"{plan.name}.{end}" for end in ("bmap", "cdx.json", "tree")),
        ]
    except ReleaseRefused as error:
        raise NotBuilt(f"The system cannot be packed: {error}") from error
    return [*made, sums(made, plan.into / f"{plan.name}.sha256")]


def sums(made: list[Path], sheet: Path) -> Path:
    """Write the SHA-256 sums of the files to `sheet`. A signature of an earlier one is removed."""
    sheet.write_text("".join(f"{sha256_of(path)}  {path.name}\n" for path in made))
    sheet.with_name(f"{sheet.name}.sig").unlink(missing_ok=True)
    return sheet


def _trees(slot: Path) -> str:
    """The hash of each file tree, for a comparison of two builds."""
    return "".join(
        f"{tree.digest((slot / f'{name}.list').read_text())}  {name}\n"
        for name in ("system", "data")
    )
