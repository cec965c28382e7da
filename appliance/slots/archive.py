"""A system as one file: a tar of manifest, signature, and two partitions' content, gzipped.

In this order: system.json, system.json.sig, boot.gz, system.gz. The manifest has the checksum of
what each unpacks to, so that one signature covers all. See pack.py for the other direction.
"""

from __future__ import annotations

import hashlib
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from appliance.errors import ReleaseRefused
from appliance.release import signature
from appliance.release.parts import open_parts
from appliance.slots import manifest as manifests
from appliance.slots.manifest import Manifest, Piece

SUFFIX = ".system"
SIGNATURE = f"{manifests.NAME}.sig"
BOOT, SYSTEM = "boot.gz", "system.gz"
CHUNK = 1 << 22  # what an SD card likes to write at once

Share = Callable[[float], None]  # how much is done: 0 to 1


class Archive:
    """An opened archive whose manifest has been read but not believed: see `verify`."""

    def __init__(self, path: Path) -> None:
        """Raises ReleaseRefused for a file that is no system, OSError for one that is away."""
        self.path = path
        self._file = path.open("rb")
        try:
            self._manifest_bytes, self._signature, (self._boot, self._system) = open_parts(
                self._file, "system", manifests.NAME, SIGNATURE, BOOT, SYSTEM
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
        total = self.manifest.boot.bytes + self.manifest.system.bytes
        done = 0
        for chunks in (self.boot(), self.system()):
            for chunk in chunks:
                done += len(chunk)
                share(done / total)

    def boot(self) -> Iterator[bytes]:
        """What belongs on a boot partition. Raises ReleaseRefused where it is not as signed."""
        return self._chunks(self._boot, self.manifest.boot)

    def system(self) -> Iterator[bytes]:
        """What belongs on a system partition, likewise."""
        return self._chunks(self._system, self.manifest.system)

    def _chunks(self, source: IO[bytes], piece: Piece) -> Iterator[bytes]:
        """The unpacked bytes, in chunks of CHUNK but for the last."""
        source.seek(0)
        digest, length = hashlib.sha256(), 0
        for chunk in self._even(self._unpacked(source)):
            length += len(chunk)
            if length > piece.bytes:
                break
            digest.update(chunk)
            yield chunk
        if (length, digest.hexdigest()) != (piece.bytes, piece.sha256):
            problem = f"{self.path.name} is damaged, or was changed after it was signed."
            raise ReleaseRefused(problem, "Fetch it again.")

    def _unpacked(self, source: IO[bytes]) -> Iterator[bytes]:
        gzip = zlib.decompressobj(wbits=31)
        try:
            while packed := source.read(1 << 18):
                while packed:
                    yield gzip.decompress(packed, CHUNK)
                    packed = gzip.unconsumed_tail
            yield gzip.flush()
        except (zlib.error, tarfile.ReadError, EOFError) as error:
            problem = f"{self.path.name} is damaged, or only part of a system."
            raise ReleaseRefused(problem, "Fetch it again.") from error

    @staticmethod
    def _even(pieces: Iterator[bytes]) -> Iterator[bytes]:
        held = bytearray()
        for piece in pieces:
            held += piece
            while len(held) >= CHUNK:
                yield bytes(held[:CHUNK])
                del held[:CHUNK]
        if held:
            yield bytes(held)


def look(path: Path) -> Manifest | None:
    """What a file says it is, unverified; None if it is no system. For lists, not for trust."""
    try:
        archive = Archive(path)
    except (OSError, ReleaseRefused):
        return None
    archive.close()
    return archive.manifest
