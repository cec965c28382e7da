"""A small encoder file like those of the hub: a vision part and an audio part, in the chosen number
format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

from tests.think import tiny

Types = gguf.GGMLQuantizationType
# Writers of such files keep these tensors in F32, whatever the format of the others is.
FINE = ("norm", "scale", "conv1d", "conv_dw", "ln2", "bias", "input_", "output_")


def write(path: Path, kind: Any = Types.F16, *, vision: bool = True, gain: float = 1.0) -> Path:
    """Write the file. `gain`: the factor by which the matrices of the audio part exceed those of
    `tiny`."""
    w = gguf.GGUFWriter(path, "clip")
    tiny.add_audio_keys(w)
    w.add_name("tiny-encoder")
    w.add_array("general.tags", ["any-to-any", "small"])
    w.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    tensors = list(tiny.audio_tensors())
    if vision:
        w.add_clip_has_vision_encoder(True)
        w.add_clip_vision_projector_type("gemma4v")
        w.add_vision_embedding_length(32)
        w.add_vision_image_mean([0.0, 0.0, 0.0])
        rng = np.random.default_rng(2)
        pictures = {
            "v.patch_embd.weight": (32, 3, 4, 4),
            "v.blk.0.attn_q.weight": (32, 32),
            "mm.input_projection.weight": (tiny.WIDTH, 32),
        }
        for name, shape in pictures.items():
            tensors.append((name, rng.standard_normal(shape).astype(np.float32)))
        tensors.sort(key=lambda tensor: tensor[0])  # the tensors of both parts alternate
    else:
        w.add_clip_has_vision_encoder(False)
    for name, tensor in tensors:
        if kind == Types.F32 or any(word in name for word in FINE):
            w.add_tensor(name, tensor)
        elif kind == Types.F16:
            w.add_tensor(name, (gain * tensor).astype(np.float16))
        else:
            data = gguf.quants.quantize(np.float32(gain) * tensor, kind)
            w.add_tensor(name, data, raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return path
