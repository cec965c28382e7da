"""What a model has computed, in one file: of what kind, what made it, a digest, the bytes.

What is cut short, changed, of another kind or made of something else is not opened.
"""

from __future__ import annotations

import hashlib
import struct

_MAGIC_BYTES = 20
_HEAD = struct.Struct(f"<{_MAGIC_BYTES}s32s32sQ")  # magic, name, digest of the rest, its length
HEAD_BYTES = _HEAD.size


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
