"""A release as one file: a tar of the manifest, its signature, and the packed tree, in this order.
A voice's program (voice/engine/) is one, too, with a manifest of its own.

The manifest names the tree's checksum, so that one signature covers all. What was handed over can
be changed by its owner at any time: the packed tree is copied, and the copy has to be what was
signed. The copy is hashed once more while it is unpacked, so that what lies in the folder at the
end is what was signed, whoever may have reached the copy.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Generic, Protocol, TypeVar

from appliance.errors import ReleaseRefused
from appliance.update import signature
from appliance.update.archive_parts import open_parts
from appliance.update.handed_over_file import CHUNK, HandedOverFile, open_handed_over
from appliance.update.release import manifest as manifests
from appliance.update.release.disk_changes import Disk
from appliance.update.release.manifest import ReleaseManifest
from appliance.update.tree_unpacker import TreeUnpacker

SUFFIX = ".release"
SIGNATURE = f"{manifests.NAME}.sig"
TREE = "tree.tar.gz"
MOST_BYTES = 1 << 30  # of a release; ours have 90 to 120 MiB, and `data` of a new card 768

ReportShare = Callable[[float], None]  # how much is done: 0 to 1


class TreeManifest(Protocol):
    """What of a manifest vouches for the tree; see ReleaseManifest."""

    @property
    def tree_sha256(self) -> str: ...
    @property
    def tree_bytes(self) -> int: ...
    @property
    def files_bytes(self) -> int: ...


M = TypeVar("M", bound=TreeManifest)


@dataclass(frozen=True)
class ArchiveKind(Generic[M]):
    """One kind of archive. `kind`: for its owner. `name`: of its manifest, which `parse` reads and
    which raises ReleaseRefused for that of another kind: the signature says nothing of the kind."""

    kind: str
    name: str
    parse: Callable[[bytes], M]

    @property
    def parts(self) -> tuple[str, str, str]:
        """The names of its parts, in their order."""
        return self.name, f"{self.name}.sig", TREE


RELEASE = ArchiveKind("release", manifests.NAME, manifests.parse)


class SignedArchive(Generic[M]):
    """An archive whose manifest is signed by somebody whom this box trusts. Its tree is not
    read."""

    def __init__(self, handed: HandedOverFile, signers: Path, form: ArchiveKind[M]) -> None:
        """Raises ReleaseRefused for a file that is none of `form`, or not signed by any of
        `signers`.

        The signature comes first: nothing of a stranger's manifest is understood or repeated.
        """
        said, signed, (self._tree,) = open_parts(handed, form.kind, *form.parts)
        signature.verify(said, signed, signers)
        self.manifest = form.parse(said)
        self._said, self._handed, self._name = said, handed, form.name

    def copy(self, place: Path, disk: Disk, share: ReportShare = lambda _: None) -> PackedTree:
        """The packed tree, copied to where nobody else can reach it. `place`: a name in a folder of
        ours, for a moment. To be closed.

        Raises ReleaseRefused unless every byte is the signed one, OSError for a full disk.
        """
        digest, done = hashlib.sha256(), 0
        expected = (self.manifest.tree_bytes, self.manifest.tree_sha256)
        if self._tree.size != self.manifest.tree_bytes:
            raise _changed(self._handed.name)
        copy = disk.nameless(place)
        try:
            for chunk in self._handed.chunks(*self._tree):
                digest.update(chunk)
                copy.write(chunk)
                done += len(chunk)
                share(done / max(1, self._tree.size))
            copy.flush()
            if (done, digest.hexdigest()) != expected:
                raise _changed(self._handed.name)
        except BaseException:
            copy.close()
            raise
        return PackedTree(copy, self.manifest, self._said, self._handed.name, self._name)


class ReleaseArchive(SignedArchive[ReleaseManifest]):
    """A release, likewise."""

    def __init__(self, handed: HandedOverFile, signers: Path) -> None:
        super().__init__(handed, signers, RELEASE)


class PackedTree:
    """The packed tree of an archive in a file of ours. `said`: the manifest as it was signed, which
    becomes the file `whole` when all is unpacked."""

    def __init__(
        self, copy: BinaryIO, manifest: TreeManifest, said: bytes, name: str, whole: str
    ) -> None:
        self._copy, self._manifest, self._said, self._name = copy, manifest, said, name
        self._whole = whole

    def close(self) -> None:
        """The copy's room is free again."""
        self._copy.close()

    def unpack(self, folder: Path, disk: Disk, share: ReportShare = lambda _: None) -> None:
        """Into `folder`, which is new: the tree, and the manifest last, which makes it whole.

        Raises ReleaseRefused for anything in it that is not a plain file, folder or inner link, and
        where what was unpacked is not what was signed; `folder` is not whole then. Raises OSError.
        """
        disk.make_folder(folder)
        written, expected = 0, self._manifest.files_bytes
        source = _Hashed(self._copy)
        members = TreeUnpacker(self._whole)
        try:
            with tarfile.open(fileobj=source, mode="r|gz") as tree:
                for member in tree:
                    written += member.size
                    if written > expected:
                        raise ReleaseRefused("It unpacks to more than its manifest says.")
                    members.unpack(tree, member, folder, disk)
                    share(written / max(1, expected))
        except ReleaseRefused:
            raise
        except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
            raise ReleaseRefused(f"The tree in {self._name} cannot be read: {error}.") from error
        signed = (self._manifest.tree_bytes, self._manifest.tree_sha256)
        if source.drained() != signed:
            raise _changed(self._name)
        disk.sync(folder)
        disk.write(folder / self._whole, self._said)
        disk.sync(folder)


class _Hashed(io.RawIOBase):
    """A file from its beginning, hashed as it is read."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._digest, self._length = file, hashlib.sha256(), 0
        file.seek(0)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        self._length += len(data)
        return data

    def drained(self) -> tuple[int, str]:
        """Length and SHA-256 of the whole file; what was not read yet is read."""
        while self.read(CHUNK):
            pass
        return self._length, self._digest.hexdigest()


def peek_manifest(file: Path | HandedOverFile) -> ReleaseManifest | None:
    """What a file says it is, unverified; None if it is no release. For lists, not for trust."""
    try:
        with open_handed_over(file, MOST_BYTES) as handed:
            said, _, _ = open_parts(handed, "release", manifests.NAME, SIGNATURE, TREE)
        return manifests.parse(said)
    except ReleaseRefused:
        return None


def _changed(name: str) -> ReleaseRefused:
    problem = f"{name} is damaged, or was changed after it was signed."
    return ReleaseRefused(problem, "Fetch it again.")
