"""The manifest of a speech head's networks: `head.json` beside them.

Three graphs (ONNX), trained together (training/speech_head):
    read.onnx     states [n, 1 + layers, width] → vectors [n, a], phones [n, slots] (0: no more)
    phones.onnx   symbols [n], their tokens' vectors [n, a] → vectors [n, b], seconds [n]
    frames.onnx   under [n, 8, b], at [n, 8, 5], past0 … → codes [n, codebooks], past0_next …
and the manifest of the codec whose codes they are.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from appliance.errors import ModelError
from appliance.record_file import load_record
from appliance.voice.head.manifest import REMEDY, Count, FileName

GRAPHS = ("read.onnx", "phones.onnx", "frames.onnx")
Small = Annotated[int, msgspec.Meta(ge=0, le=64)]


class HeadManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A head.

    model           sha256 of the text model on whose states it was trained; "" for any
    layers, width   of a token's states, not counting its embedding
    lead_tokens     most later tokens that a token waits for before it sounds
    phones_behind, phones_ahead   context of the phones' network around one phone
    silence         the symbol at which the voice pauses and starts again
    frame_blocks, frame_width     of the frames' network: so many states [1, width, 3]
    dbfs            mean loudness of its speech
    files           sha256 of each file
    """

    format: Literal[1] = 1
    model: str
    layers: Small
    width: Count
    rate_hz: Count
    frame_samples: Count
    lead_tokens: Annotated[int, msgspec.Meta(ge=0, le=4)]
    phones_behind: Small
    phones_ahead: Small
    silence: Small
    frame_blocks: Small
    frame_width: Count
    dbfs: Annotated[float, msgspec.Meta(ge=-60.0, le=0.0)]
    codec: FileName
    files: dict[FileName, str]


def read_head_manifest(folder: Path) -> HeadManifest:
    """Read `folder`/head.json, and check its files' presence and sha256. Raises ModelError."""
    path = folder / "head.json"
    if not path.is_file():
        raise ModelError(f"{path}: the speech head is missing.", REMEDY)
    found, problem = load_record(path, HeadManifest)
    if found is None:
        raise ModelError(f"{problem or path}: it describes no speech head.", REMEDY)
    missing = {*GRAPHS, found.codec} - set(found.files)
    if missing:
        raise ModelError(f"{path} does not list {min(missing)}.", REMEDY)
    for name, digest in found.files.items():
        file = folder / name
        if not file.is_file():
            raise ModelError(f"{file}: a part of the speech head is missing.", REMEDY)
        with file.open("rb") as content:
            found_digest = hashlib.file_digest(content, "sha256").hexdigest()
        if found_digest != digest:
            raise ModelError(f"{file}: it is not the file that {path.name} lists.", REMEDY)
    return found
