"""Writes a slot: its root, then its boot partition, the first sector of that last.

Until that sector is written, the firmware finds no file system in the slot and cannot start it. An
interruption at any point leaves the running slot untouched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from appliance.errors import ShownAs, StorageError
from appliance.update.progress import ReportShare, unreported
from appliance.update.system.archive import CHUNK, SystemArchive
from appliance.update.system.block_device import BlockDevice, PartitionedDisk
from appliance.update.system.fat32 import SECTOR, FatFileSystem
from appliance.update.system.slot import CMDLINE, SystemSlot, cmdline


def write_slot(
    archive: SystemArchive, slot: SystemSlot, card: PartitionedDisk, share: ReportShare = unreported
) -> None:
    """Write the archive's contents to both partitions of a slot, and verify them by reading back.

    Raises StorageError if a content does not fit or the card returns other bytes, ReleaseRefused
    for an archive that changed after its verification, OSError.
    """
    manifest = archive.manifest
    total = 2 * (manifest.boot.bytes + manifest.system.bytes)  # written and read back
    done = 0

    def counted(chunks: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal done
        for chunk in chunks:
            yield chunk
            done += len(chunk)
            share(done / total)

    with card.part(slot.boot) as boot, card.part(slot.system) as system:
        for part, content in ((boot, manifest.boot), (system, manifest.system)):
            if content.bytes > part.size:
                problem = f"It needs {content.bytes >> 20} MiB on `{part.name}`"
                raise StorageError(f"{problem}, which has {part.size >> 20}.")
        boot.write(0, bytes(SECTOR))
        boot.flush()
        _copy(counted(archive.system()), system, begin=0)
        _compare(counted(_content(system, manifest.system.bytes)), system, manifest.system.sha256)
        head = _copy(counted(archive.boot()), boot, begin=SECTOR)
        written = _content(boot, manifest.boot.bytes, head)
        _compare(counted(written), boot, manifest.boot.sha256)
        _set_cmdline(boot, head, slot)
        boot.write(0, head)
        boot.flush()


def bootable(slot: SystemSlot, card: PartitionedDisk) -> bool:
    """Whether the slot has a boot file system whose command line names this slot."""
    with card.part(slot.boot) as boot:
        try:
            data = FatFileSystem(boot).read(CMDLINE)
        except StorageError:
            return False
    return data is not None and cmdline(data.decode(errors="replace"), slot.name).encode() == data


def _copy(chunks: Iterator[bytes], part: BlockDevice, begin: int) -> bytes:
    """Write all bytes but the first `begin`, and return these."""
    at, head = 0, b""
    for chunk in chunks:
        skipped = chunk[: begin - at] if at < begin else b""
        head += skipped
        part.write(at + len(skipped), chunk[len(skipped) :])
        at += len(chunk)
    part.flush()
    return head


def _content(part: BlockDevice, size: int, head: bytes = b"") -> Iterator[bytes]:
    """Read `size` bytes back from the card, with `head` in place of the beginning."""
    yield head
    for at in range(len(head), size, CHUNK):
        yield part.read(at, min(CHUNK, size - at))


def _compare(chunks: Iterator[bytes], part: BlockDevice, sha256: str) -> None:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    if digest.hexdigest() != sha256:
        problem = f"The card did not keep what was written to `{part.name}`."
        raise StorageError(
            problem,
            "It is worn out, or not what it was sold as: replace it.",
            shown=ShownAs.of("page-wrong-card-worn"),
        )


def _set_cmdline(boot: BlockDevice, head: bytes, slot: SystemSlot) -> None:
    """Change cmdline.txt so that the kernel mounts the root of this slot."""
    fat = FatFileSystem(boot, head)
    data = fat.read(CMDLINE)
    if data is None:
        raise StorageError(f"Its boot partition has no {CMDLINE}.")
    text = data.decode("ascii", errors="replace")
    wanted = cmdline(text, slot.name)
    if f"PARTLABEL={slot.system}" not in wanted:
        raise StorageError(f"Its {CMDLINE} names no root of ours.")
    if wanted != text:
        fat.replace(CMDLINE, wanted.encode("ascii"))
