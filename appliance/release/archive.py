"""A release as one file: a tar of the manifest, its signature, and the packed tree, in this order.

The manifest names the tree's checksum, so that one signature covers all. Nothing of the tree is
unpacked before all of it has been checked.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from appliance.errors import ReleaseRefused
from appliance.release import manifest as manifests
from appliance.release import signature
from appliance.release.disk import Disk
from appliance.release.manifest import Manifest
from appliance.release.parts import open_parts

SUFFIX = ".release"
SIGNATURE = f"{manifests.NAME}.sig"
TREE = "tree.tar.gz"
_CHUNK = 1 << 20

Share = Callable[[float], None]  # how much is done: 0 to 1


class Archive:
    """An opened archive whose manifest has been read but not believed: see `verify`."""

    def __init__(self, path: Path) -> None:
        """Raises ReleaseRefused for a file that is no release, OSError for one that is away."""
        self.path = path
        self._file = path.open("rb")
        try:
            self._manifest_bytes, self._signature, (self._tree,) = open_parts(
                self._file, "release", manifests.NAME, SIGNATURE, TREE
            )
            self.manifest = manifests.parse(self._manifest_bytes)
        except ReleaseRefused:
            self.close()
            raise

    def close(self) -> None:
        self._file.close()

    def verify(self, signers: Path, share: Share = lambda _: None) -> None:
        """Raises ReleaseRefused unless the signature is good and every byte is the signed one."""
        signature.verify(self._manifest_bytes, self._signature, signers)
        digest, length, expected = hashlib.sha256(), 0, self.manifest.tree_bytes
        self._tree.seek(0)
        try:
            while chunk := self._tree.read(_CHUNK):
                digest.update(chunk)
                length += len(chunk)
                share(min(1.0, length / max(1, expected)))
        except tarfile.ReadError as error:
            problem = f"{self.path.name} is only part of a release."
            raise ReleaseRefused(problem, "Fetch it again.") from error
        if (length, digest.hexdigest()) != (expected, self.manifest.tree_sha256):
            problem = f"{self.path.name} is damaged, or was changed after it was signed."
            raise ReleaseRefused(problem, "Fetch it again.")

    def unpack(self, folder: Path, disk: Disk, share: Share = lambda _: None) -> None:
        """Into `folder`, which is new: the tree, and the manifest last, which makes it whole.

        Raises ReleaseRefused for anything in it that is not a plain file, folder or inner link.
        """
        disk.make_folder(folder)
        written, expected = 0, self.manifest.files_bytes
        self._tree.seek(0)
        try:
            with tarfile.open(fileobj=self._tree, mode="r|gz") as tree:
                for member in tree:
                    written += member.size
                    if written > expected:
                        raise ReleaseRefused("It unpacks to more than its manifest says.")
                    _put(tree, member, folder, disk)
                    share(written / max(1, expected))
        except (tarfile.TarError, EOFError) as error:
            raise ReleaseRefused(
                f"The tree in {self.path.name} cannot be read: {error}."
            ) from error
        disk.settle(folder)
        disk.write(folder / manifests.NAME, self._manifest_bytes)
        disk.settle(folder)


def _put(tree: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, disk: Disk) -> None:
    path = folder / _inner(member.name)
    if member.isdir():
        disk.make_folder(path)
    elif member.isreg():
        source = tree.extractfile(member)
        disk.write(path, source.read() if source else b"", 0o755 if member.mode & 0o100 else 0o644)
    elif member.issym():
        _inner(os.path.normpath(PurePosixPath(member.name).parent / member.linkname))
        disk.plain_link(path, member.linkname)
    else:
        raise ReleaseRefused(f"There is something in it that is no file: {member.name}.")


def _inner(name: str) -> PurePosixPath:
    """`name` as a path that stays inside the tree. Raises ReleaseRefused."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) == manifests.NAME:
        raise ReleaseRefused(f"A name in it leads out of it: {name}.")
    return path


def look(path: Path) -> Manifest | None:
    """What a file says it is, unverified; None if it is no release. For lists, not for trust."""
    try:
        archive = Archive(path)
    except (OSError, ReleaseRefused):
        return None
    archive.close()
    return archive.manifest
