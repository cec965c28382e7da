"""What a model has computed, in one file: of what kind, what made it, a digest, the bytes.

What is cut short, changed, of another kind or made of something else is not opened. From
`set_apart` until `put_back` a file has another name, under which it is not opened either: so a
state that ends the process is not tried again.
"""

from __future__ import annotations

import hashlib
import logging
import struct
from pathlib import Path

from appliance.atomic_file import read_small

_MAGIC_BYTES = 20
_HEAD = struct.Struct(f"<{_MAGIC_BYTES}s32s32sQ")  # magic, name, digest of the rest, its length
HEAD_BYTES = _HEAD.size
# Of content. With Gemma 4 E2B an opening of 1,125 tokens takes 13 MiB; persona, tools and 24 turns
# take some 30 MiB.
MOST_BYTES = 64 << 20
_APART = ".tried"

log = logging.getLogger("thinker")


def name(made_of: bytes) -> bytes:
    """32 bytes that stand for all that made a state."""
    return hashlib.sha256(made_of).digest()


def seal(magic: bytes, made_of: bytes, content: bytes) -> bytes:
    """What stands in the file. `magic`: the kind of file, 20 bytes."""
    digest = hashlib.sha256(content).digest()
    return _HEAD.pack(magic, name(made_of), digest, len(content)) + content


def unseal(magic: bytes, made_of: bytes, data: bytes) -> bytes | None:
    """The content of a file, if it is of this kind, made of this, and whole."""
    if len(data) < _HEAD.size:
        return None
    found, made, digest, length = _HEAD.unpack_from(data)
    content = data[_HEAD.size :]
    whole = len(content) == length and hashlib.sha256(content).digest() == digest
    return content if found == magic and made == name(made_of) and whole else None


def load(path: Path, magic: bytes, made_of: bytes, what: str) -> bytes | None:
    """The content of the file `path`, or None. What is wrong is logged; `what` was kept in it."""
    if path.name.endswith(_APART):
        log.warning("what was kept of %s was no use last time; it is read anew", what)
        return None
    try:
        data = read_small(path, HEAD_BYTES + MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("what was kept of %s cannot be read (%s)", what, error.strerror)
        return None
    content = unseal(magic, made_of, data)
    if content is None:
        log.warning("what was kept of %s is damaged, or not of this model; it is read anew", what)
    return content


def apart(path: Path) -> Path:
    """The other name of the file `path`."""
    return path.with_name(path.name + _APART)


def set_apart(path: Path) -> Path:
    """Before its state is tried. Returns the name that it has then. Raises OSError."""
    return path.rename(apart(path))


def put_back(path: Path) -> None:
    """The state of a file that was set apart is in use. `path`: its name now. Raises OSError."""
    path.rename(path.with_name(path.name.removesuffix(_APART)))
