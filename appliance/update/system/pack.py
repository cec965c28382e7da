"""Packs a boot partition and a root file system into a system archive, without a signature."""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from pathlib import Path
from typing import IO

from appliance.update.archive_parts import write_parts
from appliance.update.signed_manifest import version_key
from appliance.update.system.archive import CHUNK, SYSTEM_ARCHIVE
from appliance.update.system.manifest import PartitionContent, SystemManifest

BLOCK = 4096


def pack(
    boot: Path,
    system: Path,
    into: Path,
    *,
    version: str,
    machine: str,
    made_s: int,
    level: int = 6,
) -> Path:
    """Write the archive of slot a's FAT image and the root image into `into`; return its path.

    `level`: of gzip; the root is compressed already. The zeros after the last file of the FAT image
    are left out. archive_parts.sign_archive signs it. Raises ReleaseRefused, OSError.
    """
    version_key(version)
    with tempfile.TemporaryFile() as first, tempfile.TemporaryFile() as second:
        manifest = SystemManifest(
            version=version,
            machine=machine,
            made_s=made_s,
            boot=_squeeze(boot, _used(boot), first, level),
            system=_squeeze(system, system.stat().st_size, second, level),
        ).encode()
        path = into / f"interlude-{version}-{machine}{SYSTEM_ARCHIVE.suffix}"
        write_parts(path, SYSTEM_ARCHIVE.parts, manifest, made_s, first, second)
    return path


def _used(image: Path) -> int:
    """Number of bytes up to the last non-zero one, rounded up to whole blocks."""
    used = 0
    with image.open("rb") as file:
        for at in range(0, image.stat().st_size, CHUNK):
            if length := len(file.read(CHUNK).rstrip(b"\0")):
                used = at + length
    return max(BLOCK, -(-used // BLOCK) * BLOCK)


def _squeeze(source: Path, size: int, target: IO[bytes], level: int) -> PartitionContent:
    digest = hashlib.sha256()
    gzip = zlib.compressobj(level, wbits=31)
    with source.open("rb") as file:
        for at in range(0, size, CHUNK):
            chunk = file.read(min(CHUNK, size - at))
            digest.update(chunk)
            target.write(gzip.compress(chunk))
    target.write(gzip.flush())
    return PartitionContent(size, digest.hexdigest())
