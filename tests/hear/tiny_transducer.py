"""A handmade ONNX transducer that tells two tones apart, for sherpa-onnx's real loader.

It has the shape of a streaming LSTM transducer: encoder, decoder, joiner and tokens, with the
metadata that sherpa-onnx requires. The onset of a 500 Hz tone is the word "wait", that of a 2500 Hz
tone the word "okay". No weight is trained: the encoder compares the rise of two mel bands, and the
joiner never repeats a word directly.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from appliance.pcm import RATE_HZ, Samples

WAIT_HZ, OKAY_HZ = 500.0, 2500.0
MELS, CHUNK, SEEN = 80, 4, 9  # mel bands; 10 ms frames that a step consumes, and that it sees
LOW, HIGH = slice(13, 20), slice(45, 52)  # the mel bands about the two tones
STANDS_OUT = 3.0  # least difference in rise, in log energy, that is a word
SURE = (
    10.0  # a steep edge: the spotter's beam takes a word as soon as it pays, and then believes it
)
TOKENS = (
    "<blk>", "<unk>", "▁", "w", "a", "i", "t", "o", "k", "y",
    "▁w", "▁wa", "▁wai", "▁wait", "▁o", "▁ok", "▁oka", "▁okay",
)  # fmt: skip
_OPSET = [helper.make_opsetid("", 13)]


def tone(frequency_hz: float, seconds: float, level: float = 0.3) -> Samples:
    """An int16 sine in a little noise; noise alone at level 0."""
    t = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    noise = np.random.default_rng(0).normal(0.0, 0.003, len(t))
    sine = level * np.sin(2 * np.pi * frequency_hz * t) * np.minimum(1.0, t / 0.01)
    return (32767 * (sine * np.minimum(1.0, (seconds - t) / 0.01) + noise)).astype(np.int16)


def make(folder: Path) -> dict[str, Path]:
    """Write the model into `folder`. Returns its files by their role in the catalogue."""
    files = {role: folder / f"{role}.onnx" for role in ("encoder", "decoder", "joiner")}
    onnx.save(_encoder(), str(files["encoder"]))
    onnx.save(_decoder(), str(files["decoder"]))
    onnx.save(_joiner(), str(files["joiner"]))
    files["tokens"] = folder / "tokens.txt"
    lines = [f"{token} {number}\n" for number, token in enumerate(TOKENS)]
    files["tokens"].write_text("".join(lines), encoding="utf-8")
    return files


def _encoder() -> onnx.ModelProto:
    """x[N, 9, 80] → encoder_out[N, 1, 1]: by how much more the low band rises than the high one,
    from the first three frames to the last three. The state is idle."""
    bands = np.zeros((MELS, 2), np.float32)
    bands[LOW, 0], bands[HIGH, 1] = 1 / 7, 1 / 7
    rise = np.zeros((1, SEEN), np.float32)
    rise[0, :3], rise[0, -3:] = -1 / 3, 1 / 3
    nodes = [
        helper.make_node("MatMul", ["rise", "x"], ["risen"]),
        helper.make_node("MatMul", ["risen", "bands"], ["both"]),
        helper.make_node("Relu", ["both"], ["upwards"]),
        helper.make_node("MatMul", ["upwards", "one_over_the_other"], ["encoder_out"]),
        helper.make_node("Identity", ["h"], ["next_h"]),
        helper.make_node("Identity", ["c"], ["next_c"]),
    ]
    graph = helper.make_graph(
        nodes, "encoder",
        [_floats("x", "N", SEEN, MELS), _floats("h", 1, "N", 1), _floats("c", 1, "N", 1)],
        [_floats("encoder_out", "N", 1, 1), _floats("next_h", 1, "N", 1),
         _floats("next_c", 1, "N", 1)],
        [_constant("bands", bands), _constant("rise", rise),
         _constant("one_over_the_other", np.array([[1.0], [-1.0]], np.float32))],
    )  # fmt: skip
    return _model(graph, model_type="lstm", num_encoder_layers=1, T=SEEN, decode_chunk_len=CHUNK,
                  rnn_hidden_size=1, d_model=1)  # fmt: skip


def _decoder() -> onnx.ModelProto:
    """y int64[N, 2] → decoder_out[N, V]: one for the last token."""
    nodes = [
        helper.make_node("Gather", ["y", "one"], ["last"], axis=1),
        helper.make_node("Gather", ["tokens", "last"], ["decoder_out"], axis=0),
    ]
    graph = helper.make_graph(
        nodes, "decoder",
        [helper.make_tensor_value_info("y", TensorProto.INT64, ["N", 2])],
        [_floats("decoder_out", "N", len(TOKENS))],
        [_constant("one", np.array(1, np.int64)),
         _constant("tokens", np.eye(len(TOKENS), dtype=np.float32))],
    )  # fmt: skip
    return _model(graph, vocab_size=len(TOKENS), context_size=2)


def _joiner() -> onnx.ModelProto:
    """(encoder_out[N, 1], decoder_out[N, V]) → logit[N, V]."""
    size = len(TOKENS)
    hears = np.zeros((1, size), np.float32)
    hears[0, TOKENS.index("▁wait")], hears[0, TOKENS.index("▁okay")] = SURE, -SURE
    bias = np.full(size, -200.0, np.float32)
    bias[0] = 0.0
    bias[[TOKENS.index("▁wait"), TOKENS.index("▁okay")]] = -SURE * STANDS_OUT
    again = -200.0 * np.eye(size, dtype=np.float32)  # forbids repeating the last word
    again[0, 0] = 0.0
    nodes = [
        helper.make_node("MatMul", ["encoder_out", "hears"], ["heard"]),
        helper.make_node("MatMul", ["decoder_out", "again"], ["said"]),
        helper.make_node("Add", ["heard", "said"], ["sum"]),
        helper.make_node("Add", ["sum", "bias"], ["logit"]),
    ]
    graph = helper.make_graph(
        nodes, "joiner",
        [_floats("encoder_out", "N", 1), _floats("decoder_out", "N", size)],
        [_floats("logit", "N", size)],
        [_constant("hears", hears), _constant("again", again), _constant("bias", bias)],
    )  # fmt: skip
    return _model(graph)


def _model(graph: onnx.GraphProto, **metadata: str | int) -> onnx.ModelProto:
    model = helper.make_model(graph, opset_imports=_OPSET, ir_version=8)
    helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
    onnx.checker.check_model(model)
    return model


def _floats(name: str, *shape: str | int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def _constant(name: str, value: npt.NDArray[np.generic]) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)
