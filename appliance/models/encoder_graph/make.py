"""Makes the streaming encoder from one GGUF: a graph, and a file of its large constants beside it.

One tensor is in memory at a time. The files are complete only after `make` has returned.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from appliance.models.encoder_graph.conformer import Conformer
from appliance.models.encoder_graph.tower import AudioTower
from appliance.models.onnx_graph.graph import Form, Graph

GRAPH_BYTES = 8 << 20  # upper bound for the graph and the alignment in the data file


@dataclass(frozen=True)
class MadeEncoder:
    """SHA-256 of both files."""

    graph_sha256: str
    data_sha256: str


def bytes_needed(audio: Path, form: Form) -> int:
    """Upper bound for the size of both files. Raises ModelError, OSError."""
    with audio.open("rb") as file:
        numbers = AudioTower(audio, file).numbers
    return numbers * (4 if form == "fp32" else 1) + numbers // 20 + GRAPH_BYTES


def make(
    audio: Path, graph: Path, data: Path, form: Form, *, half_convolutions: bool = False
) -> MadeEncoder:
    """Write both files and flush them to the disk. `data` must stay beside `graph` under its name.

    Raises ModelError if the encoder is of another kind or has a missing or unknown tensor, OSError.
    After an error the caller removes what is left of the files.
    """
    with audio.open("rb") as source, data.open("wb") as target:
        built = Graph(form, target, data.name)
        tower = AudioTower(audio, source)
        content = Conformer(tower, built, half_convolutions=half_convolutions).build()
        target.flush()
        os.fsync(target.fileno())
    with graph.open("wb") as target:
        target.write(content)
        target.flush()
        os.fsync(target.fileno())
    return MadeEncoder(hashlib.sha256(content).hexdigest(), built.data_sha256)
