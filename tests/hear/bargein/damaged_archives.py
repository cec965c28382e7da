"""Files of an enrolment that NumPy opens and cannot use: each raises an error of another kind."""

from __future__ import annotations

import io

import numpy as np

LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"  # headers of an entry (PKWARE APPNOTE 4.3.7, 4.3.12)
_FLAGS, _METHOD = 6, 8  # bytes from the local one's begin; two more from the central one's
_DATA = 30 + len("weight.npy") + 20  # into what is compressed, behind an extra field of ZIP64


def damaged() -> dict[str, bytes]:
    """By what is wrong with them."""
    made = io.BytesIO()
    np.savez_compressed(
        made,
        weight=np.zeros((3, 64), np.float32),
        bias=np.zeros(3, np.float32),
        model=np.array("of this network"),
    )
    whole = made.getvalue()
    cut = bytearray(whole)
    cut[_DATA : _DATA + 40] = b"\xff" * 40
    return {
        "encrypted": _headers_with(whole, _FLAGS, 1),
        "unknown method": _headers_with(whole, _METHOD, 99),
        "no deflate": bytes(cut),
        "one array alone": _array(np.zeros((3, 64), np.float32)),
    }


def _headers_with(whole: bytes, at: int, value: int) -> bytes:
    changed = bytearray(whole)
    for sign, offset in ((LOCAL, at), (CENTRAL, at + 2)):
        begin = whole.find(sign)
        while begin >= 0:
            changed[begin + offset] = value
            begin = whole.find(sign, begin + 4)
    return bytes(changed)


def _array(values: np.ndarray) -> bytes:
    made = io.BytesIO()
    np.save(made, values)
    return made.getvalue()
