"""Packs a tree of files into a release archive without a signature, byte by byte reproducible."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

from appliance.update.archive_parts import write_parts
from appliance.update.release import policy as policies
from appliance.update.release import signer_rotation
from appliance.update.release.archive import RELEASE
from appliance.update.release.manifest import ReleaseManifest
from appliance.update.signed_manifest import version_key


def pack(
    tree: Path,
    into: Path,
    *,
    version: str,
    machine: str,
    python: str,
    made_s: int,
    level: int = 9,
) -> Path:
    """Write the archive of `tree` into the folder `into`; return its path.

    `level`: of gzip. archive_parts.sign_archive signs it. Raises ReleaseRefused.
    """
    version_key(version)
    policies.read(tree, version)  # refuses one that every box would refuse
    signer_rotation.read(tree)
    data, files_bytes = squeeze(tree, level)
    manifest = ReleaseManifest(
        version=version,
        machine=machine,
        python=python,
        made_s=made_s,
        tree_sha256=hashlib.sha256(data).hexdigest(),
        tree_bytes=len(data),
        files_bytes=files_bytes,
    )
    path = into / f"interlude-{version}-{machine}{RELEASE.suffix}"
    write_parts(path, RELEASE.parts, manifest.encode(), made_s, io.BytesIO(data))
    return path


def squeeze(tree: Path, level: int) -> tuple[bytes, int]:
    """Return the packed tree, and the total size of its files in bytes."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=level, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        files_bytes = _add(tar, tree)
    return packed.getvalue(), files_bytes


def _add(tar: tarfile.TarFile, tree: Path) -> int:
    """Add all files sorted by name, with owner root and time 0. Returns their total size."""
    total = 0
    for path in sorted(tree.rglob("*")):
        info = tar.gettarinfo(path, arcname=str(path.relative_to(tree)))
        if info.islnk():  # a hard link: written as a second copy
            info.type, info.linkname, info.size = tarfile.REGTYPE, "", path.stat().st_size
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = 0
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        if info.isreg():
            total += info.size
            with path.open("rb") as file:
                tar.addfile(info, file)
        else:
            tar.addfile(info)
    return total
