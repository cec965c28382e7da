"""Writes the disk image, its partitions and file systems into files. No loop device, no root."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from image import layout

SECTOR = 512
BLOCK = 4096  # unit of the block map; a block of zeros is a hole in the image
_CHUNK = 1 << 22


class Misfit(Exception):
    """A file system that does not fit its partition, or a tool that failed."""


def assemble(image: Path, parts: Mapping[str, Path], version: str) -> None:
    """Write `image` with each of `parts` (partition → file) in its place. Raises Misfit."""
    for name, part in parts.items():
        size_bytes = layout.LAYOUT[layout.number(name) - 1].mib << 20
        if part.stat().st_size > size_bytes:
            part_mib = part.stat().st_size >> 20
            raise Misfit(f"{part} has {part_mib} MiB; the partition {name} has {size_bytes >> 20}.")
    with image.open("wb") as file:
        file.truncate(layout.total_mib() << 20)
    tell(
        "sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", image, stdin=layout.script(version)
    )
    places = offsets(image)
    with image.open("r+b") as file:
        for name, part in parts.items():
            file.seek(places[name])
            with part.open("rb") as source:
                while chunk := source.read(_CHUNK):
                    if chunk.strip(b"\0"):
                        file.write(chunk)
                    else:
                        file.seek(len(chunk), 1)


def offsets(image: Path) -> dict[str, int]:
    """The start of each partition in bytes, from the partition table of the image."""
    table = json.loads(tell("sfdisk", "--json", image))["partitiontable"]["partitions"]
    return {row["name"]: row["start"] * SECTOR for row in table}


def fat(path: Path, name: str, files: Path, mib: int) -> None:
    """Make a FAT file system with the content of the folder `files`."""
    with path.open("wb") as file:
        file.truncate(mib << 20)
    # 512-byte sectors, a fixed serial number and no times, so that the build is reproducible.
    tell("mkfs.vfat", "-F", "32", "-S", "512", "-s", "1", "-n", name[:11].upper(), "-i", "496e746c",
         "--invariant", path)  # fmt: skip
    entries = sorted(files.iterdir())
    if entries:  # FAT stores local time
        tell("mcopy", "-s", "-m", "-i", path, *entries, "::", environment={"TZ": "UTC"})


def erofs(path: Path, tree: Path, time_s: int, identity: str) -> None:
    """Make a read-only file system of `tree`; all files get the time `time_s`."""
    tell("mkfs.erofs", "-zlz4hc", f"-T{time_s}", f"-U{identity}", path, tree)


def ext4(
    path: Path,
    name: str,
    mib: int,
    tree: Path | None = None,
    *,
    time_s: int | None = None,
    identity: str | None = None,
) -> None:
    """Make a writable file system; on the card it is `data`, which e2fsck checks at each start.

    `identity` is its UUID and the seed of its directory hashes, `time_s` the time of all files.
    With both, the same tree gives the same bytes.
    """
    with path.open("wb") as file:
        file.truncate(mib << 20)
    source_options = ("-d", str(tree)) if tree is not None else ()
    uuid_options = ("-U", identity) if identity else ()
    seed = f",hash_seed={identity}" if identity else ""
    environment = {"LC_ALL": "C"}  # for a fixed order of names
    if time_s is not None:
        environment["E2FSPROGS_FAKE_TIME"] = str(time_s)
    tell("mke2fs", "-q", "-t", "ext4", "-L", name, "-m", "1", "-E", f"lazy_itable_init=1{seed}",
         *uuid_options, *source_options, path, environment=environment)  # fmt: skip
    if tree is not None and time_s is not None:
        _set_all_times(path, sum(1 for _ in tree.rglob("*")), time_s, environment)


def _set_all_times(path: Path, count: int, time_s: int, environment: Mapping[str, str]) -> None:
    """Set all times of the `count` files of a new ext4 to `time_s`.

    mke2fs copies the times of the source files, whose ctime cannot be set on this machine. The
    inodes of a new file system are numbered without gaps.
    """
    header = tell("dumpe2fs", "-h", path)
    total, free, first = (
        int(found[1]) if (found := re.search(rf"^{name}:\s+(\d+)$", header, re.MULTILINE)) else 0
        for name in ("Inode count", "Free inodes", "First inode")
    )
    last = total - free
    if last - first != count:
        raise Misfit(f"{path} has {last - first} files, and not {count}.")
    timestamp = f"@{time_s:#x}"
    commands = [
        f"sif <{inode}> {name} {timestamp}\nsif <{inode}> {name}_extra 0"
        for inode in (2, *range(first, last + 1))  # 2 is the root
        for name in ("atime", "ctime", "mtime")
    ]
    script = "\n".join([*commands, ""])
    tell("debugfs", "-w", "-f", "-", path, stdin=script, environment=environment)


def written(image: Path) -> Iterator[tuple[int, int]]:
    """Runs of blocks that are not all zeros: (first, last), last included."""
    first: int | None = None
    block = after = 0  # `after`: the block that would continue the run
    with image.open("rb") as file:
        for start, end in _extents(file.fileno(), image.stat().st_size):
            file.seek(start)
            block = start // BLOCK
            while block * BLOCK < end:
                for piece in _blocks(file.read(min(_CHUNK, end - block * BLOCK))):
                    holds = bool(piece.strip(b"\0"))
                    if first is not None and (not holds or block != after):
                        yield first, after - 1
                        first = None
                    if holds:
                        first = block if first is None else first
                        after = block + 1
                    block += 1
    if first is not None:
        yield first, after - 1


def _extents(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """Byte ranges of a sparse file that have data, widened to whole blocks; holes are not read."""
    end = 0
    while end < size:
        try:
            start = os.lseek(fd, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # the rest of the file is a hole
                return
            raise
        end = min(size, -(-os.lseek(fd, start, os.SEEK_HOLE) // BLOCK) * BLOCK)
        yield start // BLOCK * BLOCK, end


def _blocks(chunk: bytes) -> Iterator[bytes]:
    return (chunk[at : at + BLOCK] for at in range(0, len(chunk), BLOCK))


def tell(
    *command: str | Path, stdin: str | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """Run a tool with `environment` added to this process's, and `stdin` as its input.

    Returns its output. Raises Misfit with the end of its output.
    """
    result = subprocess.run(
        [str(word) for word in command], input=stdin, capture_output=True, text=True, check=False,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if result.returncode:
        raise Misfit(f"{command[0]}: {(result.stderr or result.stdout).strip()[-400:]}")
    return result.stdout
