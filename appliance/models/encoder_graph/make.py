"""Makes the streaming encoder of one GGUF: a graph, and a file of its large constants beside it.

One tensor is in memory at a time. The files are whole only when this has returned.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from appliance.models.encoder_graph.conformer import Conformer
from appliance.models.encoder_graph.tower import AudioTower
from appliance.models.onnx_graph.graph import Form, Graph

GRAPH_BYTES = 8 << 20  # of the graph and what is rounded up in the data, at most


@dataclass(frozen=True)
class MadeEncoder:
    """SHA-256 of both files."""

    graph_sha256: str
    data_sha256: str


def bytes_needed(audio: Path, form: Form) -> int:
    """Of both files, at most. Raises ModelError, OSError."""
    with audio.open("rb") as file:
        numbers = AudioTower(audio, file).numbers
    return numbers * (4 if form == "fp32" else 1) + numbers // 20 + GRAPH_BYTES


def make(
    audio: Path, graph: Path, data: Path, form: Form, *, half_convolutions: bool = False
) -> MadeEncoder:
    """Write both files, safe on the disk; `data` must stay beside `graph` under its name.

    Raises ModelError for what is no encoder of a kind that is known to the last tensor, OSError.
    What is left of the files then, whoever asked takes away.
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
