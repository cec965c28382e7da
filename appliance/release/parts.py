"""The parts of a signed file: a plain tar of manifest, signature, and what these vouch for."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import IO, BinaryIO

from appliance.errors import ReleaseRefused
from appliance.release.manifest import MOST_BYTES


def open_parts(
    file: BinaryIO, kind: str, *names: str
) -> tuple[bytes, bytes, tuple[IO[bytes], ...]]:
    """Manifest and signature, not believed yet, and the other parts, each to be read on demand.

    `names`: of all the parts, in their order. `kind`: what the file is to be, for its owner.
    Raises ReleaseRefused for a file that is no such thing, OSError.
    """
    called = Path(file.name).name
    try:
        tar = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115  # `file` is the caller's
        members = [tar.next() for _ in names]
        if [member and member.name for member in members] != list(names):
            raise ReleaseRefused(f"{called} is no {kind}.")
        if any(member and member.size > MOST_BYTES for member in members[:2]):
            raise ReleaseRefused(f"{called} is no {kind}: its manifest is too large.")
        manifest, signature, *others = (_open(tar, member) for member in members)
        return manifest.read(), signature.read(), tuple(others)
    except tarfile.TarError as error:
        raise ReleaseRefused(f"{called} is no {kind}, or only part of one.") from error


def _open(tar: tarfile.TarFile, member: tarfile.TarInfo | None) -> IO[bytes]:
    found = tar.extractfile(member) if member else None
    if found is None:
        raise ReleaseRefused("A part of it is no file.")
    return found
