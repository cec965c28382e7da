"""Reads a system archive: a tar of manifest, signature, and the gzipped content of two partitions.

In this order: system.json, system.json.sig, boot.gz, system.gz. The manifest has the checksums of
the unpacked contents, so that one signature covers all. pack.py writes such an archive.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from appliance.errors import ReleaseRefused, ShownAs
from appliance.update.archive_parts import ArchivePart
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.progress import ReportShare, unreported
from appliance.update.signed_archive import ArchiveKind
from appliance.update.system import manifest as manifests
from appliance.update.system.manifest import PartitionContent

BOOT, SYSTEM = "boot.gz", "system.gz"
CHUNK = 1 << 22  # bytes written at once, a good size for an SD card
PACKED = 1 << 18  # bytes read at once
SYSTEM_ARCHIVE = ArchiveKind(
    "system",
    ".system",
    2 << 30,  # a slot's two partitions have 1664 MiB, unpacked
    manifests.NAME,
    manifests.parse,
    (BOOT, SYSTEM),
)


class SystemArchive:
    """A system archive whose manifest is signed by a trusted key.

    `boot` and `system` read the contents on demand from the open file, and hash them each time."""

    def __init__(self, file: HandedOverFile, signers: Path) -> None:
        """Raises ReleaseRefused for a file that is not a system archive, or is not signed by a key
        in `signers`."""
        opened = SYSTEM_ARCHIVE.open(file, signers)
        self.manifest, (self._boot, self._system) = opened.manifest, opened.contents
        self.manifest_bytes, self.signatures = opened.manifest_bytes, opened.signatures
        self._file = file

    def verify(self, share: ReportShare = unreported) -> None:
        """Raise ReleaseRefused unless every byte is the signed one at this time."""
        total = self.manifest.boot.bytes + self.manifest.system.bytes
        done = 0
        for chunks in (self.boot(), self.system()):
            for chunk in chunks:
                done += len(chunk)
                share(done / total)

    def boot(self) -> Iterator[bytes]:
        """The content of the boot partition. Raises ReleaseRefused at its end if the checksum is
        wrong."""
        return self._chunks(self._boot, self.manifest.boot)

    def system(self) -> Iterator[bytes]:
        """The content of the root partition; raises like `boot`."""
        return self._chunks(self._system, self.manifest.system)

    def _chunks(self, part: ArchivePart, content: PartitionContent) -> Iterator[bytes]:
        """The unpacked bytes, in chunks of CHUNK bytes; only the last may be shorter."""
        digest, length = hashlib.sha256(), 0
        for chunk in self._rechunked(self._unpacked(part)):
            length += len(chunk)
            if length > content.bytes:
                break
            digest.update(chunk)
            yield chunk
        if (length, digest.hexdigest()) != (content.bytes, content.sha256):
            problem = f"{self._file.name} is damaged, or was changed after it was signed."
            shown = ShownAs.of("page-wrong-damaged", file=self._file.name)
            raise ReleaseRefused(problem, "Fetch it again.", shown=shown)

    def _unpacked(self, part: ArchivePart) -> Iterator[bytes]:
        """Yield at most CHUNK bytes at a time, whatever the file contains. Data after the end of
        the gzip stream is refused, since zlib would keep all of it in memory."""
        gzip = zlib.decompressobj(wbits=31)
        shown = ShownAs.of("page-wrong-damaged", file=self._file.name)
        problem = f"{self._file.name} is damaged."
        damaged = ReleaseRefused(problem, "Fetch it again.", shown=shown)
        try:
            for packed in self._file.chunks(*part, PACKED):
                if gzip.eof:
                    raise damaged
                rest = packed
                while rest:
                    yield gzip.decompress(rest, CHUNK)
                    rest = gzip.unconsumed_tail
                if gzip.unused_data:
                    raise damaged
            yield gzip.flush()
        except zlib.error as error:
            raise damaged from error

    @staticmethod
    def _rechunked(chunks: Iterator[bytes]) -> Iterator[bytes]:
        buffer = bytearray()
        for chunk in chunks:
            buffer += chunk
            while len(buffer) >= CHUNK:
                yield bytes(buffer[:CHUNK])
                del buffer[:CHUNK]
        if buffer:
            yield bytes(buffer)
