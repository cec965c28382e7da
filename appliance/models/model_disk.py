"""Checksums of models' files, durable writes, and the errors of their disk."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from appliance.atomic_file import write_whole
from appliance.errors import FetchError, StorageError

_CHUNK_BYTES = 1 << 20


def sha256_of(path: Path, progress: Callable[[int], object] | None = None) -> str:
    """SHA-256 of a file in hex; `progress` is called with the number of bytes of each read."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while data := source.read(_CHUNK_BYTES):
            digest.update(data)
            if progress is not None:
                progress(len(data))
    return digest.hexdigest()


def size_of(path: Path) -> int:
    """Bytes of a regular file; 0 if there is none, or another process has just taken it away."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def write_durably(path: Path, data: bytes) -> None:
    """Write a small file atomically. Raises StorageError."""
    with storage_errors(path.parent):
        write_whole(path, data)


@contextlib.contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError of the disk into a StorageError."""
    try:
        yield
    except (FetchError, StorageError):
        raise
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written ({error.strerror}).",
            "What has arrived is kept: make room or fix the permissions, then fetch again.",
        ) from error
