"""Making a system's archive: a boot partition and a root file system become one signed file."""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import IO

from appliance.update import signature
from appliance.update.release.manifest import version_key
from appliance.update.system import manifest as manifests
from appliance.update.system.archive import BOOT, CHUNK, SIGNATURE, SUFFIX, SYSTEM
from appliance.update.system.manifest import PartitionContent, SystemManifest

BLOCK = 4096


def pack(
    boot: Path,
    system: Path,
    into: Path,
    key: Path,
    *,
    version: str,
    machine: str,
    made_s: int,
    level: int = 6,
) -> Path:
    """The archive of slot a's FAT image and of the root's, signed by `key`, in the folder `into`.

    `level` of gzip: the root is squeezed already. Of the FAT file system what comes after the last
    file is left out: nobody reads it. Raises ReleaseRefused, OSError.
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
        signed = signature.sign(manifest, key)
        path = into / f"interlude-{version}-{machine}{SUFFIX}"
        with tarfile.open(path, mode="w", format=tarfile.PAX_FORMAT) as outer:
            for name, content in (
                (manifests.NAME, io.BytesIO(manifest)),
                (SIGNATURE, io.BytesIO(signed)),
                (BOOT, first),
                (SYSTEM, second),
            ):
                info = tarfile.TarInfo(name)
                info.size, info.mtime = content.seek(0, io.SEEK_END), made_s
                content.seek(0)
                outer.addfile(info, content)
    return path


def _used(image: Path) -> int:
    """Bytes up to the last that is not zero, in whole blocks."""
    used = 0
    with image.open("rb") as file:
        for at in range(0, image.stat().st_size, CHUNK):
            if held := len(file.read(CHUNK).rstrip(b"\0")):
                used = at + held
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
