"""The file format of a model's computed state: kind, origin, digest and content.

A file that is truncated, changed, of another kind or of another origin is rejected. From
`mark_tried` until `unmark_tried` a file has another name, under which `load` rejects it: a state
that crashes the process is not loaded again.
"""

from __future__ import annotations

import hashlib
import logging
import struct
from pathlib import Path

from appliance.atomic_file import read_small

_MAGIC_BYTES = 20
_HEAD = struct.Struct(f"<{_MAGIC_BYTES}s32s32sQ")  # magic, name, digest and length of the content
HEAD_BYTES = _HEAD.size
# Maximum size of the content. With Gemma 4 E2B an opening of 1,125 tokens takes 13 MiB; persona,
# tools and 24 turns take some 30 MiB.
MOST_BYTES = 64 << 20
_TRIED = ".tried"

log = logging.getLogger("thinker")


def name(made_of: bytes) -> bytes:
    """Return a digest, 32 bytes, of what a state depends on."""
    return hashlib.sha256(made_of).digest()


def seal(magic: bytes, made_of: bytes, content: bytes) -> bytes:
    """Return the bytes of a file with this content. `magic`: the kind of file, 20 bytes."""
    digest = hashlib.sha256(content).digest()
    return _HEAD.pack(magic, name(made_of), digest, len(content)) + content


def unseal(magic: bytes, made_of: bytes, data: bytes) -> bytes | None:
    """Return the content of a file; None if kind, origin or digest do not match."""
    if len(data) < _HEAD.size:
        return None
    found, made, digest, length = _HEAD.unpack_from(data)
    content = data[_HEAD.size :]
    whole = len(content) == length and hashlib.sha256(content).digest() == digest
    return content if found == magic and made == name(made_of) and whole else None


def load(path: Path, magic: bytes, made_of: bytes, what: str) -> bytes | None:
    """Return the content of the file `path`; None, with a log line about `what`, if that fails."""
    if path.name.endswith(_TRIED):
        log.warning("the saved state of %s failed last time; it is computed again", what)
        return None
    try:
        data = read_small(path, HEAD_BYTES + MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("the saved state of %s cannot be read (%s)", what, error.strerror)
        return None
    content = unseal(magic, made_of, data)
    if content is None:
        log.warning(
            "the saved state of %s is damaged or of another model; it is computed again", what
        )
    return content


def tried_path(path: Path) -> Path:
    """Return the name that `mark_tried` gives to the file `path`."""
    return path.with_name(path.name + _TRIED)


def mark_tried(path: Path) -> Path:
    """Rename a file before its state is used. Return the new path. Raises OSError."""
    return path.rename(tried_path(path))


def unmark_tried(path: Path) -> None:
    """Undo `mark_tried` once the state works. `path`: the file's present path. Raises OSError."""
    path.rename(path.with_name(path.name.removesuffix(_TRIED)))
