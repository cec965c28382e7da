"""Makes the codec from Mimi's published file: a graph, a file of its large constants, a manifest.

One tensor is in memory at a time, except for the codebooks. The manifest is written last, so the
files that it describes are complete.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.models.mimi_graph.decoder import MimiDecoder
from appliance.models.mimi_graph.weights import BOOKS, FRAMES_PER_S, MimiWeights
from appliance.models.onnx_graph.graph import Form, Graph
from appliance.models.onnx_graph.onnx_format import FLOAT

LICENCE = "CC-BY-4.0"
ABOUT = "The decoder of Mimi by Kyutai (kyutai/mimi), rewritten as a streaming graph."


def make(weights: Path, manifest: Path, form: Form) -> None:
    """Write `manifest`, and beside it the graph (.onnx) and its data (.data), flushed to the disk.
    `form`: of the transformer's matrices; all others are in fp32.

    Raises ModelError if a tensor of Mimi's decoder is missing, unknown or of another shape,
    OSError. After an error the caller removes what is left of the files.
    """
    graph, data = (manifest.with_suffix(end) for end in (".onnx", ".data"))
    with weights.open("rb") as source, data.open("wb") as target:
        mimi = MimiWeights(weights, source)
        decoder = MimiDecoder(mimi, Graph(form, target, data.name, by_row=True))
        content = decoder.build()
        target.flush()
        os.fsync(target.fileno())
    write_whole(graph, content)
    described = {
        "format": 1,
        "graph": graph.name,
        "rate_hz": int(FRAMES_PER_S * mimi.frame_samples),
        "frame_samples": mimi.frame_samples,
        "codebooks": BOOKS,
        "codes": mimi.codes,
        "licence": LICENCE,
        "about": ABOUT,
        "states": [
            {"name": name, "type": "float32" if type_ == FLOAT else "int64", "shape": shape}
            for name, type_, shape in decoder.streams.states
        ],
    }
    write_whole(manifest, msgspec.json.format(msgspec.json.encode(described)))
