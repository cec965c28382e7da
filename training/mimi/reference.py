"""Mimi in transformers, with random weights, as the reference that our graph is compared with.

    python -m training.mimi.reference fixture FOLDER    a small one: weights, codes, samples
    python -m training.mimi.reference weights FILE      one of Mimi's size, for benches
    python -m training.mimi.reference compare           one of Mimi's size against our graph

Needs torch and transformers (versions: README.md). No weights of Kyutai's are used.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers

from appliance.models.mimi_graph.make import make
from appliance.models.mimi_graph.weights import BOOKS
from appliance.voice.head.codec import Codec

SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_filters": 4, "upsampling_ratios": [3, 2, 2], "codebook_size": 16,
    "codebook_dim": 8, "vector_quantization_hidden_dimension": 8, "num_quantizers": 9,
    "num_hidden_layers": 2, "intermediate_size": 48, "upsample_groups": 32, "head_dim": 4,
}  # fmt: skip
SMALL_FRAMES = 140  # 280 positions: more than the attention's window
LOUDNESS = 0.1  # RMS of the output


def random_mimi(changes: dict[str, Any], seed: int) -> Any:
    """A MimiModel with random values for all weights, so that each has an effect."""
    torch.manual_seed(seed)
    config = transformers.MimiConfig(**changes)
    model = transformers.MimiModel(config).eval()
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name.endswith("embed_sum"):
                tensor.normal_()
            elif name.endswith("cluster_usage"):
                tensor.uniform_(0.2, 2.0)[0] = 0.0  # a code that training never used
            elif name.endswith("layer_scale.scale"):
                tensor.uniform_(0.05, 0.5)
            elif "layernorm" in name:
                tensor.normal_(1.0 if name.endswith("weight") else 0.0, 0.2)
            elif name.endswith("bias"):
                tensor.normal_(0.0, 0.05)
            elif name.endswith("proj.weight") or ".mlp." in name:
                tensor.normal_(0.0, tensor.shape[1] ** -0.5)
        for book in model.quantizer.modules():
            if hasattr(book, "cluster_usage"):
                book.embed_sum[0] = 1e-5  # an unused code: a sum near 0 over the least usage
                book._embed = None
        last = model.decoder.decoder_seanet.layers[-1].conv
        factor = LOUDNESS / samples(model, codes(config, 25, seed)).std()
        last.weight *= float(factor)
        last.bias *= float(factor)
    return model


def codes(config: Any, frames: int, seed: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, config.codebook_size, (frames, BOOKS))


def samples(model: Any, frames: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The samples of all frames, decoded at once."""
    with torch.no_grad():
        decoded = model.decode(torch.from_numpy(frames.T[None].copy()))
    sound: npt.NDArray[np.float32] = decoded.audio_values[0, 0].numpy()
    return sound


def save(model: Any, file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        shutil.copyfile(Path(folder) / "model.safetensors", file)


def decoder_only(file: Path) -> None:
    """Remove the encoder from a file. A ninth book stays, since Mimi's file has 24 more than 8."""
    from safetensors.numpy import load_file, save_file

    tensors = load_file(file)
    aside = ("encoder.", "encoder_transformer.", "downsample.")
    save_file({name: t for name, t in tensors.items() if not name.startswith(aside)}, file)


def fixture(folder: Path) -> None:
    model = random_mimi(SMALL, seed=7)
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / "small.safetensors")
    decoder_only(folder / "small.safetensors")
    frames = codes(model.config, SMALL_FRAMES, seed=11)
    np.savez_compressed(
        folder / "small.npz", codes=frames.astype(np.int8), samples=samples(model, frames)
    )


def compare(frame_count: int = 150) -> None:
    """Print the largest difference between our samples and transformers', at an RMS of 0.1.

    Our graph decodes all frames at once, two frames at a time, and one at a time.
    """
    model = random_mimi({}, seed=7)
    frames = codes(model.config, frame_count, seed=11)
    wanted = samples(model, frames)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "mimi.safetensors"
        save(model, file)
        for form in ("fp32", "int8"):
            manifest = file.with_name(f"mimi-{form}.json")
            make(file, manifest, form)
            codec = Codec(manifest)
            for piece in (frame_count, 2, 1):
                state, parts = codec.start(), []
                for at in range(0, frame_count, piece):
                    part, state = codec.decode(frames[at : at + piece], state)
                    parts.append(part)
                off = np.abs(np.concatenate(parts) - wanted)
                print(
                    f"{form}, {piece} frames a call: at most {off.max():.1e} off, "
                    f"{20 * np.log10(off.std() / wanted.std()):.1f} dB of the sound"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("fixture", "weights", "compare"))
    parser.add_argument("where", type=Path, nargs="?", default=Path())
    given = parser.parse_args()
    if given.what == "fixture":
        fixture(given.where)
    elif given.what == "weights":
        save(random_mimi({}, seed=7), given.where)
    else:
        compare()


if __name__ == "__main__":
    main()
