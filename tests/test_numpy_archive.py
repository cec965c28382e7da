"""A small NumPy archive is read as it was written, and any other file is refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from appliance.numpy_archive import read_arrays
from tests.memory_peak import Peak

MOST_BYTES = 65_536
TAPS = np.linspace(0.0, 1.0, 100, dtype=np.float32)


def archive(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # its stub takes a name for a flag
    return buffer.getvalue()


def compressed(numbers: int) -> bytes:
    """An archive whose one array takes a thousandth of its memory on the disk."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, taps=np.zeros(numbers, np.float32))
    return buffer.getvalue()


def claims(shape: str, kind: str = "<f4") -> bytes:
    """A stored array with 16 bytes of data, whose header claims another size."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}".encode()
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("taps.npy", array)
    return buffer.getvalue()


HOSTILE = {
    "64 MiB, compressed": compressed(16 << 20),
    "a little, compressed": compressed(16),
    "a header of 64 GB": claims("(17179869184,)"),
    "a negative shape": claims("(-4,)"),
    "a shape that is no number": claims("('x',)"),
    "a deeply nested shape": claims("(" * 5000),
    "a word of 4 GB": claims("()", "<U1073741824"),
    "a pickled object": claims("(1,)", "|O"),
    "an array without an archive": archive(taps=TAPS)[64:],
    "another array": archive(other=TAPS),
    "too large": archive(taps=np.zeros(MOST_BYTES // 4, np.float32)),
    "nothing": b"",
    "a beginning": b"PK\x03\x04 cut off",
}


def test_arrays_are_read_as_they_were_saved(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(archive(taps=TAPS, key=np.array("a card"), more=TAPS))
    taps, key = read_arrays(tmp_path / "x.npz", ("taps", "key"), MOST_BYTES)
    assert (taps.tolist(), str(key)) == (TAPS.tolist(), "a card")


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_any_other_file_is_refused_in_little_memory(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npz").write_bytes(content)
    peak = Peak()
    with pytest.raises(ValueError, match="holds no such arrays"):
        read_arrays(tmp_path / "x.npz", ("taps",), MOST_BYTES)
    assert peak.mib < 16
