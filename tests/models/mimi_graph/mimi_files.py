"""A small Mimi with random weights: as transformers wrote it, with changes, and converted to a
codec.

small.safetensors and small.npz (codes, and the samples that transformers' MimiModel decodes from
them) are written by `python -m training.mimi.reference fixture tests/models/mimi_graph`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.models.mimi_graph.make import make
from appliance.models.onnx_graph.graph import Form
from appliance.voice.head.codec import Codec

FOLDER = Path(__file__).parent
SMALL = FOLDER / "small.safetensors"
Tensors = dict[str, npt.NDArray[np.float32]]
Change = Callable[[Tensors], object]
Sound = npt.NDArray[np.float32]


def reference() -> tuple[npt.NDArray[np.int64], Sound]:
    """Codes, and the samples that transformers decodes from them."""
    with np.load(FOLDER / "small.npz") as arrays:
        return arrays["codes"].astype(np.int64), arrays["samples"]


def header(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a safetensors file, and the bytes after it."""
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(entries: Any, data: bytes) -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensors() -> Tensors:
    entries, data = header(SMALL.read_bytes())
    entries.pop("__metadata__", None)
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in entries.items()
    }


def written(path: Path, change: Change = lambda tensors: None) -> Path:
    """A file of the small Mimi with changed tensors."""
    changed = tensors()
    change(changed)
    entries: dict[str, Any] = {}
    data = b""
    for name, values in changed.items():
        raw = np.ascontiguousarray(values, "<f4").tobytes()
        place = [len(data), len(data) + len(raw)]
        entries[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": place}
        data += raw
    path.write_bytes(joined(entries, data))
    return path


def codec(folder: Path, form: Form = "fp32", weights: Path = SMALL) -> Codec:
    """A codec made from `weights`."""
    manifest = folder / f"mimi-{form}.json"
    make(weights, manifest, form)
    return Codec(manifest)


def decoded(codec: Codec, codes: npt.NDArray[np.int64], piece: int) -> Sound:
    """The sound, decoded in pieces of `piece` frames."""
    state, parts = codec.start(), []
    for at in range(0, len(codes), piece):
        part, state = codec.decode(codes[at : at + piece], state)
        parts.append(part)
    return np.concatenate(parts)
