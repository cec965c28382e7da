"""Reads, replaces and wipes small files in the root folder of a FAT32 file system.

It does not mount the file system, so that it controls the order of writes: a replaced file of one
sector is either the old one or the new one, and a wiped file is overwritten before its directory
entry is removed. The format: Microsoft, "FAT32 File System Specification", 2000. In: any
BlockDevice. Anything else than an intact FAT32 raises StorageError.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from appliance.errors import StorageError
from appliance.update.system.block_device import BlockDevice

SECTOR = 512
MOST_BYTES = 1 << 20  # of a file that is read here; ours have a few hundred
_ENTRY = 32
_LONG_NAME, _LABEL, _FOLDER = 0x0F, 0x08, 0x10
_GONE, _NEVER = 0xE5, 0x00
_END = 0x0FFFFFF8
_MOST_ENTRIES = 4096


@dataclass(frozen=True)
class FatFile:
    """A file of the root folder.

    `size`: in bytes. `cluster`: its first one. `entries`: offsets of its directory entries, those
    of the long name first."""

    name: str
    size: int
    cluster: int
    entries: tuple[int, ...]


class FatFileSystem:
    """The file system in `part`. `head`: its first sector, if that is not written yet."""

    def __init__(self, part: BlockDevice, head: bytes | None = None) -> None:
        self._part = part
        boot = head if head is not None else part.read(0, SECTOR)
        if len(boot) < SECTOR or boot[510:512] != b"\x55\xaa":
            raise self._error("is no FAT file system")
        sector, self._per_cluster, reserved, self._copies = (
            _number(boot, at, width) for at, width in ((11, 2), (13, 1), (14, 2), (16, 1))
        )
        short_fat, total, sectors = (
            _number(boot, at, width) for at, width in ((22, 2), (32, 4), (36, 4))
        )
        self._root = _number(boot, 44, 4)
        if sector != SECTOR or short_fat or not self._per_cluster or not sectors:
            raise self._error("is no FAT32 of sectors of 512 bytes")
        self._fat = reserved * SECTOR
        self._fat_bytes = sectors * SECTOR
        self._data = self._fat + self._copies * self._fat_bytes
        self._cluster_bytes = self._per_cluster * SECTOR
        if total * SECTOR > part.size or self._data > part.size:
            raise self._error("says it is larger than its partition")
        clusters = (total * SECTOR - self._data) // self._cluster_bytes
        self._clusters = min(clusters, self._fat_bytes // 4 - 2)

    def files(self) -> list[FatFile]:
        """All files of the root folder."""
        return list(self._files())

    def find(self, name: str) -> FatFile | None:
        return next((file for file in self._files() if file.name.lower() == name.lower()), None)

    def read(self, name: str) -> bytes | None:
        """The content of the file `name`; None if there is none."""
        file = self.find(name)
        return None if file is None else self._content(file)

    def replace(self, name: str, data: bytes) -> None:
        """Overwrite a file in place with as many bytes as it has, at most one sector."""
        file = self.find(name)
        if file is None:
            raise self._error(f"has no {name}")
        if len(data) != file.size or len(data) > SECTOR:
            problem = f"has a {name} of {file.size} bytes, which {len(data)} cannot replace"
            raise self._error(problem)
        place = self._place(file.cluster)
        sector = bytearray(self._part.read(place, SECTOR))
        sector[: len(data)] = data
        self._part.write(place, bytes(sector))
        self._part.flush()

    def wipe(self, name: str) -> None:
        """Overwrite a file with zeros, then remove its directory entries and free its clusters."""
        file = self.find(name)
        if file is None:
            return
        clusters = list(self._chain(file.cluster))
        for cluster in clusters:
            self._part.write(self._place(cluster), bytes(self._cluster_bytes))
        self._part.flush()
        for place in file.entries:
            self._part.write(place, bytes([_GONE]))
        for copy in range(self._copies):
            for cluster in clusters:
                self._part.write(self._fat + copy * self._fat_bytes + 4 * cluster, bytes(4))
        self._part.flush()

    def wipe_free(self) -> None:
        """Overwrite all free clusters with zeros: an editor that saved a file may have left an
        older copy of it in them."""
        table = self._part.read(self._fat, 4 * (self._clusters + 2))
        for cluster in range(2, self._clusters + 2):
            if _number(table, 4 * cluster, 4) & 0x0FFFFFFF == 0:
                place = self._place(cluster)
                if any(self._part.read(place, self._cluster_bytes)):
                    self._part.write(place, bytes(self._cluster_bytes))
        self._part.flush()

    def _files(self) -> Iterator[FatFile]:
        long_name: list[str] = []
        long_entries: list[int] = []
        for count, place in enumerate(self._slots()):
            entry = self._part.read(place, _ENTRY)
            kind = entry[11]
            if entry[0] == _NEVER or count > _MOST_ENTRIES:
                return
            if entry[0] != _GONE and kind == _LONG_NAME:
                long_name.insert(0, _long_piece(entry))
                long_entries.append(place)
                continue
            if entry[0] != _GONE and not kind & (_LABEL | _FOLDER):
                name = "".join(long_name).split("\0")[0] or _short_name(entry)
                cluster = _number(entry, 20, 2) << 16 | _number(entry, 26, 2)
                yield FatFile(name, _number(entry, 28, 4), cluster, (*long_entries, place))
            long_name, long_entries = [], []

    def _slots(self) -> Iterator[int]:
        for cluster in self._chain(self._root):
            begin = self._place(cluster)
            yield from range(begin, begin + self._cluster_bytes, _ENTRY)

    def _chain(self, cluster: int) -> Iterator[int]:
        seen: set[int] = set()
        while 2 <= cluster < _END:
            if cluster in seen or self._place(cluster) + self._cluster_bytes > self._part.size:
                raise self._error("is damaged: a chain of clusters is invalid")
            seen.add(cluster)
            yield cluster
            entry = self._part.read(self._fat + 4 * cluster, 4)
            cluster = _number(entry, 0, 4) & 0x0FFFFFFF

    def _content(self, file: FatFile) -> bytes:
        if file.size > MOST_BYTES:
            raise self._error(f"has a {file.name} that is too large")
        data = b"".join(
            self._part.read(self._place(cluster), self._cluster_bytes)
            for cluster in self._chain(file.cluster)
        )
        if len(data) < file.size:
            raise self._error(f"is damaged: {file.name} ends early")
        return data[: file.size]

    def _place(self, cluster: int) -> int:
        return self._data + (cluster - 2) * self._cluster_bytes

    def _error(self, how: str) -> StorageError:
        return StorageError(f"The partition `{self._part.name}` {how}.")


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "little")


def _long_piece(entry: bytes) -> str:
    """The part of a long name in an entry, up to 13 characters; 0xFFFF fills the unused ones."""
    letters = entry[1:11] + entry[14:26] + entry[28:32]
    return letters.decode("utf-16-le", errors="replace").rstrip("\uffff")


def _short_name(entry: bytes) -> str:
    stem, end = (half.decode("ascii", "replace").rstrip() for half in (entry[:8], entry[8:11]))
    # Byte 12, as Windows and Linux write it: bit 3 for a lower-case name, bit 4 for the extension.
    stem = stem.lower() if entry[12] & 0x08 else stem
    end = end.lower() if entry[12] & 0x10 else end
    return f"{stem}.{end}" if end else stem
