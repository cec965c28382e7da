"""Verifies, copies and unpacks a release archive: a tar of manifest, signature and packed tree.

The program of a voice (voice/engine/) has the same form, with a manifest of its own. The manifest
contains the tree's checksum, so that one signature covers all. The owner of the archive can change
it at any time, so the packed tree is first copied to a private file and hashed. The copy is hashed
again while it is unpacked, so that the unpacked folder is the signed tree even if another process
changed the copy. The signatures are kept beside the manifest, so that a release can be verified
again before a return to it.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from appliance.errors import ReleaseRefused, ShownAs, StorageError
from appliance.update.handed_over_file import CHUNK, HandedOverFile
from appliance.update.progress import ReportShare, unreported
from appliance.update.release import manifest as manifests
from appliance.update.release.disk_changes import Disk
from appliance.update.release.manifest import ReleaseManifest
from appliance.update.signed_archive import ArchiveKind
from appliance.update.signed_manifest import TreeManifest
from appliance.update.tree_unpacker import TreeUnpacker

TREE = "tree.tar.gz"
RELEASE = ArchiveKind(
    "release",
    ".release",
    1 << 30,  # ours have 90 to 120 MiB, and `data` of a new card 768
    manifests.NAME,
    manifests.parse,
    (TREE,),
)
INSTALL_SPARE_BYTES = 64 << 20  # left free on the disk, besides the copy and the unpacked tree
M = TypeVar("M", bound=TreeManifest)


class SignedArchive(Generic[M]):
    """An archive whose manifest is signed by a trusted key. Opening it does not read the tree."""

    def __init__(self, source: HandedOverFile, signers: Path, kind: ArchiveKind[M]) -> None:
        """Raises ReleaseRefused for a file that is not of that `kind`, or is not signed by a key
        in `signers`."""
        opened = kind.open(source, signers)
        self.manifest, (self._tree,) = opened.manifest, opened.contents
        self.manifest_bytes, self.signatures = opened.manifest_bytes, opened.signatures
        self._source, self._manifest_name = source, kind.name

    def verify(self) -> None:
        """Raise ReleaseRefused unless every byte of the tree is the signed one at this time."""
        digest = hashlib.sha256()
        for chunk in self._source.chunks(*self._tree):
            digest.update(chunk)
        expected = (self.manifest.tree_bytes, self.manifest.tree_sha256)
        if (self._tree.size, digest.hexdigest()) != expected:
            raise _changed(self._source.name)

    def copy(self, place: Path, disk: Disk, share: ReportShare = unreported) -> PackedTree:
        """Copy the packed tree to a file without a name, and verify the copy.

        `place`: a path in a folder of root's; the file has this name only until it is open. The
        caller closes the result. Raises ReleaseRefused unless every byte is the signed one, OSError
        for a full disk.
        """
        digest, done = hashlib.sha256(), 0
        expected = (self.manifest.tree_bytes, self.manifest.tree_sha256)
        if self._tree.size != self.manifest.tree_bytes:
            raise _changed(self._source.name)
        copy = disk.nameless(place)
        try:
            for chunk in self._source.chunks(*self._tree):
                digest.update(chunk)
                copy.write(chunk)
                done += len(chunk)
                share(done / max(1, self._tree.size))
            copy.flush()
            if (done, digest.hexdigest()) != expected:
                raise _changed(self._source.name)
        except BaseException:
            copy.close()
            raise
        kept = {
            f"{self._manifest_name}.sig": self.signatures,
            self._manifest_name: self.manifest_bytes,
        }
        return PackedTree(copy, self.manifest, kept, self._source.name)

    def unpack(
        self,
        part: Path,
        copy: Path,
        disk: Disk,
        *,
        verified: ReportShare = unreported,
        unpacked: ReportShare = unreported,
        check: Callable[[Path], None] = lambda _: None,
    ) -> None:
        """Copy the packed tree to `copy`, unpack it into the new folder `part`, and `check` that.

        `copy` is on the same disk as `part`. After a failure `part` is removed. Raises
        ReleaseRefused, also from `check`; StorageError for a disk that is too small.
        """
        free = disk.free_bytes(part.parent)
        need = self.manifest.tree_bytes + self.manifest.files_bytes + INSTALL_SPARE_BYTES
        if free < need:
            problem = f"{need >> 20} MiB are needed for it, and {free >> 20} are free."
            shown = ShownAs.of("page-wrong-look-room", mib=-(-(need - free) >> 20))
            raise StorageError(problem, f"Make room below {copy.parent}.", shown=shown)
        try:
            with closing(self.copy(copy, disk, verified)) as tree:
                tree.unpack(part, disk, unpacked)
            check(part)
        except (OSError, ReleaseRefused) as error:
            if part.exists():
                disk.remove_tree(part)
            if isinstance(error, ReleaseRefused):
                raise
            raise StorageError(f"It could not be unpacked ({error.strerror}).") from error


class ReleaseArchive(SignedArchive[ReleaseManifest]):
    """A release archive whose manifest is signed by a trusted key."""

    def __init__(self, source: HandedOverFile, signers: Path) -> None:
        super().__init__(source, signers, RELEASE)


class PackedTree:
    """The private copy of an archive's packed tree.

    `kept`: the names and contents of the files that are written after all is unpacked, the manifest
    last. `name`: of the archive."""

    def __init__(
        self, copy: BinaryIO, manifest: TreeManifest, kept: Mapping[str, bytes], name: str
    ) -> None:
        self._copy, self._manifest, self._kept, self._name = copy, manifest, kept, name

    def close(self) -> None:
        """Close the copy, which frees its disk space."""
        self._copy.close()

    def unpack(self, folder: Path, disk: Disk, share: ReportShare = unreported) -> None:
        """Unpack the tree into the new `folder`, then its signatures, and last the manifest, which
        completes it.

        Raises ReleaseRefused for a member that is not a plain file, a folder or an inner link, and
        if the unpacked bytes are not the signed ones, and OSError. Then `folder` has no manifest.
        """
        disk.make_folder(folder)
        written, expected = 0, self._manifest.files_bytes
        source = _Hashed(self._copy)
        unpacker = TreeUnpacker(*self._kept)
        try:
            with tarfile.open(fileobj=source, mode="r|gz") as tree:
                for member in tree:
                    written += member.size
                    if written > expected:
                        raise ReleaseRefused("It unpacks to more than its manifest says.")
                    unpacker.unpack(tree, member, folder, disk)
                    share(written / max(1, expected))
        except ReleaseRefused:
            raise
        except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
            raise ReleaseRefused(f"The tree in {self._name} cannot be read: {error}.") from error
        signed = (self._manifest.tree_bytes, self._manifest.tree_sha256)
        if source.finish() != signed:
            raise _changed(self._name)
        for name, data in self._kept.items():
            disk.sync(folder)
            disk.write(folder / name, data)
        disk.sync(folder)


class _Hashed(io.RawIOBase):
    """Reads a file from its beginning, and hashes what it reads."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._digest, self._length = file, hashlib.sha256(), 0
        file.seek(0)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        self._length += len(data)
        return data

    def finish(self) -> tuple[int, str]:
        """Read the rest of the file; return length and SHA-256 of the whole."""
        while self.read(CHUNK):
            pass
        return self._length, self._digest.hexdigest()


def _changed(name: str) -> ReleaseRefused:
    problem = f"{name} is damaged, or was changed after it was signed."
    shown = ShownAs.of("page-wrong-damaged", file=name)
    return ReleaseRefused(problem, "Fetch it again.", shown=shown)
