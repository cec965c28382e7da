"""Enrolment files that NumPy opens but cannot read: each raises a different kind of error."""

from __future__ import annotations

import io

import numpy as np

LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"  # headers of an entry (PKWARE APPNOTE 4.3.7, 4.3.12)
_FLAGS, _METHOD = 6, 8  # bytes from the start of the local header; the central header has two more
_DATA = 30 + len("weight.npy") + 20  # start of the compressed data, after a ZIP64 extra field


def damaged() -> dict[str, bytes]:
    """The content of each file by its kind of damage."""
    arrays = {
        "weight": np.zeros((3, 64), np.float32),
        "bias": np.zeros(3, np.float32),
        "model": np.array("of this network"),
    }
    stored, compressed = io.BytesIO(), io.BytesIO()
    np.savez(stored, **arrays)  # type: ignore[arg-type]  # its stub takes a name for a flag
    np.savez_compressed(compressed, **arrays)  # type: ignore[arg-type]
    cut = bytearray(compressed.getvalue())
    cut[_DATA : _DATA + 40] = b"\xff" * 40
    return {
        "encrypted": _headers_with(stored.getvalue(), _FLAGS, 1),
        "unknown method": _headers_with(stored.getvalue(), _METHOD, 99),
        "compressed": compressed.getvalue(),
        "no deflate": bytes(cut),
        "one array alone": _array(np.zeros((3, 64), np.float32)),
    }


def _headers_with(archive: bytes, at: int, value: int) -> bytes:
    changed = bytearray(archive)
    for sign, offset in ((LOCAL, at), (CENTRAL, at + 2)):
        begin = archive.find(sign)
        while begin >= 0:
            changed[begin + offset] = value
            begin = archive.find(sign, begin + 4)
    return bytes(changed)


def _array(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()
