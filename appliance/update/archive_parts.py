"""Reads and writes a signed archive: a plain tar of manifest, signature and the signed contents.

Reading happens before any signature is checked, so this module parses the tar headers itself
instead of using `tarfile`: one header block of 512 bytes a part, regular files only, no extension
(POSIX.1-1988 ustar, or GNU's magic). Any other header is refused, and no field of a header decides
how much memory is allocated. Writing uses `tarfile`, since the builder writes only its own files.

A build writes archives without a signature; `sign_archive` adds one. It imports nothing but the
standard library, since the private key must not be near other people's code.
"""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path
from typing import IO, NamedTuple

from appliance.errors import ReleaseRefused, ShownAs
from appliance.update import signature
from appliance.update.handed_over_file import HandedOverFile

BLOCK = 512
MOST_MANIFEST_BYTES = 65_536  # ours have 300
MOST_SIGNATURE_BYTES = 16_384  # an armoured RSA signature of 16384 bits has 6 KiB; ours have 300 B
PADDING_BYTES = 20_480  # at most, after the last part: two zero blocks, padded to 10,240 bytes
_MAGICS = (b"ustar\x0000", b"ustar  \0")
_SIZE = re.compile(rb"[0-7]{11}[\0 ]")
_SUM = re.compile(rb"[0-7]{6,7}[\0 ]{1,2}")


class ArchivePart(NamedTuple):
    """Offset and size of a part's content in the archive, in bytes."""

    at: int
    size: int


def open_parts(
    source: HandedOverFile, kind: str, *names: str
) -> tuple[bytes, bytes, tuple[ArchivePart, ...]]:
    """Return manifest and signature, not verified yet, and the places of the other parts.

    `names`: the names of all parts in their order; any other part is refused. `kind`: the word for
    this kind of file in error messages. Raises ReleaseRefused for a file of another form.
    """
    shown = ShownAs.of("page-wrong-no-archive", file=source.name)
    refusal = ReleaseRefused(f"{source.name} is no {kind}, or only part of one.", shown=shown)
    offset, parts = 0, []
    for name in names:
        if offset + BLOCK > source.size:
            raise refusal
        part = ArchivePart(
            offset + BLOCK, _size(source.read(offset, BLOCK), name, f"{source.name} is no {kind}")
        )
        if part.at + part.size > source.size:
            raise refusal
        parts.append(part)
        offset = part.at + -(-part.size // BLOCK) * BLOCK
    rest = source.size - offset
    if rest > PADDING_BYTES or (rest > 0 and any(source.read(offset, rest))):
        raise ReleaseRefused(f"{source.name} is no {kind}: something follows its last part.")
    manifest, signature_part, *contents = parts
    if manifest.size > MOST_MANIFEST_BYTES or signature_part.size > MOST_SIGNATURE_BYTES:
        raise ReleaseRefused(f"{source.name} is no {kind}: its manifest is too large.")
    return source.read(*manifest), source.read(*signature_part), tuple(contents)


def write_parts(
    path: Path,
    names: tuple[str, ...],
    manifest: bytes,
    made_s: int,
    *contents: IO[bytes],
    signatures: bytes = b"",
) -> None:
    """Write an archive under `names`: the manifest, its `signatures`, and the contents.

    `made_s` becomes the modification time of every part. Raises OSError."""
    signed_parts = (io.BytesIO(manifest), io.BytesIO(signatures))
    with tarfile.open(path, mode="w", format=tarfile.PAX_FORMAT) as outer:
        for name, content in zip(names, (*signed_parts, *contents), strict=True):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = content.seek(0, io.SEEK_END), made_s
            content.seek(0)
            outer.addfile(info, content)


def sign_archive(path: Path, key: Path) -> None:
    """Add a signature by `key` to an archive that a build made here, and replace the file.

    Signatures of other keys stay, in front. Raises ReleaseRefused, OSError, tarfile.TarError.
    """
    with tarfile.open(path, mode="r:") as made:
        manifest_part, signatures_part, *others = made.getmembers()
        if signatures_part.name != f"{manifest_part.name}.sig":
            raise ReleaseRefused(f"{path} is no archive that can be signed.")
        manifest, signatures = (_read(made, part) for part in (manifest_part, signatures_part))
        new = signature.sign(manifest, key)
        if new in signature.blocks(signatures):
            return
        names = (manifest_part.name, signatures_part.name, *(part.name for part in others))
        contents = [made.extractfile(part) or io.BytesIO() for part in others]
        temporary = path.with_name(f".{path.name}.new")
        try:
            write_parts(
                temporary, names, manifest, int(manifest_part.mtime), *contents,
                signatures=signatures + new,
            )  # fmt: skip
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _read(made: tarfile.TarFile, part: tarfile.TarInfo) -> bytes:
    """The content of a small part of an archive of our own."""
    content = made.extractfile(part)
    return content.read(MOST_MANIFEST_BYTES) if content else b""


def _size(header: bytes, name: str, problem: str) -> int:
    """The size in the header of the regular file `name`. Raises ReleaseRefused for any other
    header."""
    named, size, checksum, kind, link, magic, prefix = (
        header[begin:end]
        for begin, end in (
            (0, 100), (124, 136), (148, 156), (156, 157), (157, 257), (257, 265), (345, 500),
        )
    )  # fmt: skip
    if magic not in _MAGICS or named != name.encode().ljust(100, b"\0") or any(prefix):
        raise ReleaseRefused(f"{problem}.")
    if kind not in {b"0", b"\0"} or any(link):
        raise ReleaseRefused(f"{problem}: a part of it is not a regular file.")
    if not _SIZE.fullmatch(size) or not _SUM.fullmatch(checksum):
        raise ReleaseRefused(f"{problem}: it is damaged.")
    if int(checksum.strip(b"\0 "), 8) != sum(header) - sum(checksum) + 8 * ord(" "):
        raise ReleaseRefused(f"{problem}: it is damaged.")
    return int(size[:11], 8)
