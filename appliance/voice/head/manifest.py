"""The manifest of a codec's graph: a small JSON file beside it.

A codec turns frames of codes into sound. Its graph (ONNX) has the inputs `codes` [n, codebooks]
int64 and each state by its name; its outputs are `samples` [n · frame_samples] float32, full scale
at ±1.0, and the next value of each state, `NAME_next`. Before the first frame every state is zeros.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from appliance.errors import ModelError
from appliance.record_file import load_record

SUFFIX = "_next"  # added to a state's name: the output with its next value
REMEDY = "Make it again, or install the package again."

Count = Annotated[int, msgspec.Meta(gt=0, le=1 << 20)]
Name = Annotated[str, msgspec.Meta(pattern="^[A-Za-z_][A-Za-z0-9_.]{0,79}$")]
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]


class CodecStateSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A state: the name of its input, its type and its constant shape."""

    name: Name
    type: Literal["float32", "float64", "int64"]
    shape: tuple[Count, ...]


class CodecManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A codec.

    graph          the file of the graph, in the manifest's folder
    rate_hz        of its sound
    frame_samples  samples of one frame
    codebooks      codes of a frame; each is 0 … codes - 1
    delay_samples  delay of the graph's samples relative to their frame's codes
    closing_codes  of a frame that is decoded after the last one to flush the delay
    """

    format: Literal[1] = 1
    graph: FileName
    rate_hz: Count
    frame_samples: Count
    codebooks: Count
    codes: Count
    delay_samples: Annotated[int, msgspec.Meta(ge=0, le=1 << 20)] = 0
    closing_codes: tuple[Annotated[int, msgspec.Meta(ge=0)], ...] = ()
    licence: str = ""
    about: str = ""
    states: tuple[CodecStateSpec, ...]


def read_manifest(path: Path) -> CodecManifest:
    """Read the manifest. Raises ModelError if it is missing or not the manifest of a codec."""
    if not path.is_file():
        raise ModelError(f"{path}: the codec is missing.", REMEDY)
    found, problem = load_record(path, CodecManifest)
    if found is None:
        raise ModelError(f"{problem or path}: it describes no codec.", REMEDY)
    if len({state.name for state in found.states}) != len(found.states):
        raise ModelError(f"{path} names a state twice.", REMEDY)
    closing = found.closing_codes
    wanted = found.codebooks if found.delay_samples else 0
    if len(closing) != wanted or any(code >= found.codes for code in closing):
        raise ModelError(f"{path}: `closing_codes` are not the codes of one frame.", REMEDY)
    return found
