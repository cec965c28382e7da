"""Reads arrays from a small NumPy archive that a restore or another process may have written."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.atomic_file import read_small


def read_arrays(path: Path, names: Sequence[str], most_bytes: int) -> list[npt.NDArray[Any]]:
    """The arrays of these names. Raises ValueError for anything but an archive with them.

    A compressed archive is refused, so that the arrays take up at most the memory of the file,
    `most_bytes`: 63 kB may be 64 MiB compressed.
    """
    try:
        data = io.BytesIO(read_small(path, most_bytes))
        with np.load(data, allow_pickle=False) as archive:
            if any(entry.compress_type for entry in archive.zip.infolist()):  # 0 is ZIP_STORED
                raise ValueError("compressed")
            return [archive[name] for name in names]
    except Exception as error:  # NumPy, zipfile and zlib have no common error for damage
        raise ValueError(f"{path} holds no such arrays ({error})") from error
