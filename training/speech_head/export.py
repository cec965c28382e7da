"""Writes the networks as ONNX for the appliance: the codec's decoder with its vocoder, the head.

Every state is an input and an output, and is initialised to zeros. Large weights are stored as 16
bit floats and cast when the graph is opened. The head's last graph includes the codec's books, so
that its output is codes.
"""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from training.speech_head.bands import BANDS, FFT, FLOOR, FRAME, PARAMETERS, RATE, STACK
from training.speech_head.codec import BOOKS, CODES, Codec
from training.speech_head.head import AHEAD, BACK, POINTS, POSITION, Head
from training.speech_head.vocoder import DELAY, WINDOW, Vocoder, transforms

OPSET = 18
LARGE = 4096  # least number of elements of a weight that is stored as 16 bit floats
TYPES = {torch.float32: "float32", torch.float64: "float64", torch.int64: "int64"}


class CodecGraph(nn.Module):
    """codes [n, 8] → samples [n · 1920]."""

    def __init__(self, codec: Codec) -> None:
        super().__init__()
        self.codec, self.vocoder = codec, Vocoder()
        self.names = list(self.vocoder.start())

    def forward(self, codes: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        p = self.codec.decode(self.codec.vectors(codes))
        samples, after = self.vocoder(p, dict(zip(self.names, states, strict=True)))
        return (samples, *(after[n] for n in self.names))


class FramesGraph(nn.Module):
    """Phones' vectors [n, 8, phone] and positions [n, 8, 5] under frames → codes [n, 8]."""

    def __init__(self, head: Head, codec: Codec) -> None:
        super().__init__()
        self.frames, self.codec = head.frames, codec

    def forward(self, under: Tensor, at: Tensor, *past: Tensor) -> tuple[Tensor, ...]:
        z, after = self.frames(under[None], at[None], list(past))
        left, codes = z[0], []
        for q in range(BOOKS):
            book = self.codec.books[q]
            i = (0.5 * (book * book).sum(1) - left @ book.T).argmin(1)
            left = left - book[i]
            codes.append(i)
        return (torch.stack(codes, 1), *after)


class ReaderGraph(nn.Module):
    """states [n, 1 + layers, width] → vectors [n, token], phones [n, slots] (0: padding)."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.reader = head.reader

    def forward(self, states: Tensor) -> tuple[Tensor, Tensor]:
        x, z = self.reader(states[None])
        return x[0], z[0].argmax(-1)


class PhonesGraph(nn.Module):
    """symbols [n], their tokens' vectors [n, token] → vectors [n, phone], seconds [n]."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.phones = head.phones

    def forward(self, symbols: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        x, seconds = self.phones(symbols[None], tokens[None], torch.ones(1, 1, 1))
        return x[0], seconds[0]


def write(
    model: nn.Module, file: Path, given: dict[str, Tensor], found: list[str], varying: list[str]
) -> None:
    """Export the model. `varying`: inputs and outputs whose first axis may have any length."""
    axes = {name: {0: "n"} for name in varying}
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        torch.onnx.export(
            model.eval(), tuple(given.values()), str(plain), input_names=list(given),
            output_names=found, dynamic_axes=axes, opset_version=OPSET, dynamo=False,
            do_constant_folding=False,
        )  # fmt: skip
        graph = onnx.load(plain)
    compute_transforms(graph)
    halve(graph)
    for value in graph.graph.output:  # the exporter does not always know their lengths
        dims = value.type.tensor_type.shape.dim
        before = given.get(value.name.removesuffix("_next"))
        if value.name in axes:
            dims[0].dim_param = value.name
        elif before is not None:
            for dim, length in zip(dims, before.shape, strict=True):
                dim.dim_value = length
    graph.ir_version = 10
    onnx.checker.check_model(graph)
    file.write_bytes(graph.SerializeToString())


def compute_transforms(model: onnx.ModelProto) -> None:
    """Replace the vocoder's two transforms, which are constants, by operations that compute them.

    The file is 5 MB smaller; the transforms are computed once, when the graph is opened.
    """
    forward, back = (x.numpy() for x in transforms())
    for node in list(model.graph.node):
        if node.op_type != "Constant" or not node.attribute[0].HasField("t"):
            continue
        shape = tuple(node.attribute[0].t.dims)
        if shape in {forward.shape, back.shape}:
            found = numpy_helper.to_array(node.attribute[0].t)
            wanted, inverse = (forward, False) if shape == forward.shape else (back, True)
            assert np.array_equal(found, wanted)
            place = list(model.graph.node).index(node)
            model.graph.node.remove(node)
            for new in reversed(transform_nodes(node.output[0], inverse=inverse)):
                model.graph.node.insert(place, new)


def transform_nodes(out: str, *, inverse: bool) -> list[onnx.NodeProto]:
    """The nodes that compute the first matrix of vocoder.transforms(), or the second: `inverse`."""
    nodes: list[onnx.NodeProto] = []

    def constant(value: Any) -> str:
        nodes.append(
            helper.make_node(
                "Constant",
                [],
                [f"{out}/{len(nodes)}"],
                value=numpy_helper.from_array(np.asarray(value)),
            )
        )
        return str(nodes[-1].output[0])

    def node(kind: str, *given: str, **how: Any) -> str:
        nodes.append(helper.make_node(kind, list(given), [f"{out}/{len(nodes)}"], **how))
        return str(nodes[-1].output[0])

    bins = FFT // 2 + 1
    zero, one = constant(np.int64(0)), constant(np.int64(1))
    samples = node(
        "Unsqueeze", node("Range", zero, constant(np.int64(FFT)), one), constant(np.array([1]))
    )
    counted = node("Range", zero, constant(np.int64(bins)), one)
    turn = node("Mod", node("Mul", samples, counted), constant(np.int64(FFT)))
    angle = node("Mul", node("Cast", turn, to=TensorProto.DOUBLE), constant(2 * np.pi / FFT))
    cosine = node("Sin", node("Add", angle, constant(np.pi / 2)))
    both = node("Concat", cosine, node("Neg", node("Sin", angle)), axis=1)
    if inverse:
        scale = np.full(bins, 2.0 / FFT)
        scale[[0, -1]] = 1.0 / FFT
        both = node("Mul", both, constant(np.concatenate([scale, scale])))
        both = node("Transpose", both, perm=[1, 0])
    else:
        window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
        both = node(
            "Slice",
            both,
            constant(np.array([0])),
            constant(np.array([WINDOW])),
            constant(np.array([0])),
        )
        both = node("Mul", both, constant(window[:, None]))
    nodes.append(helper.make_node("Cast", [both], [out], to=TensorProto.FLOAT))
    return nodes


def halve(model: onnx.ModelProto) -> None:
    """Store large float weights as 16 bit floats followed by a cast, in place."""
    graph = model.graph
    casts = []
    for i, weight in enumerate(list(graph.initializer)):
        if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) < LARGE:
            continue
        name = weight.name
        small = numpy_helper.to_array(weight).astype(np.float16)
        graph.initializer[i].CopyFrom(numpy_helper.from_array(small, f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    for node in reversed(casts):
        graph.node.insert(0, node)


def write_codec(codec: Codec, folder: Path) -> None:
    graph = CodecGraph(codec)
    states = graph.vocoder.start()
    given = {"codes": torch.zeros(2, BOOKS, dtype=torch.int64), **states}
    found = ["samples", *(f"{n}_next" for n in states)]
    write(graph, folder / "codec.onnx", given, found, ["codes", "samples"])
    manifest = {
        "format": 1, "graph": "codec.onnx", "rate_hz": RATE, "frame_samples": FRAME,
        "codebooks": BOOKS, "codes": CODES, "delay_samples": DELAY,
        "closing_codes": silent_codes(codec), "licence": "Apache-2.0",
        "about": "The pocket codec: one voice, trained by training/speech_head.",
        "states": [
            {"name": n, "type": TYPES[s.dtype], "shape": list(s.shape)} for n, s in states.items()
        ],
    }  # fmt: skip
    (folder / "codec.json").write_text(json.dumps(manifest, indent=1) + "\n")


@torch.no_grad()  # type: ignore[untyped-decorator]
def silent_codes(codec: Codec) -> list[int]:
    hops = torch.full((STACK, PARAMETERS), FLOOR)
    hops[:, :2] = hops[:, 2 + BANDS :] = 0.0
    return [int(c) for c in codec.quantise(codec.encode(hops))[0]]


def write_head(
    head: Head, codec: Codec, symbols: list[str], model: Path, folder: Path, dbfs: float
) -> None:
    c = head.config
    states = torch.zeros(3, 1 + c.layers, c.width)
    write(
        ReaderGraph(head),
        folder / "read.onnx",
        {"states": states},
        ["vectors", "phones"],
        ["states", "vectors", "phones"],
    )
    given = {"symbols": torch.zeros(9, dtype=torch.int64), "tokens": torch.zeros(9, c.token)}
    write(
        PhonesGraph(head),
        folder / "phones.onnx",
        given,
        ["vectors", "seconds"],
        [*given, "vectors", "seconds"],
    )
    past = {f"past{i}": x for i, x in enumerate(head.frames.start(1))}
    given = {
        "under": torch.zeros(2, POINTS, c.phone),
        "at": torch.zeros(2, POINTS, POSITION),
        **past,
    }
    found = ["codes", *(f"{n}_next" for n in past)]
    write(FramesGraph(head, codec), folder / "frames.onnx", given, found, ["under", "at", "codes"])
    files = ["read.onnx", "phones.onnx", "frames.onnx", "codec.onnx", "codec.json"]
    manifest: dict[str, Any] = {
        "format": 1, "model": digest(model), "layers": c.layers, "width": c.width, "rate_hz": RATE,
        "frame_samples": FRAME, "lead_tokens": 1 + AHEAD, "dbfs": round(dbfs, 1),
        "codec": "codec.json",
        "phones_behind": BACK, "phones_ahead": AHEAD, "silence": symbols.index("_"),
        "frame_blocks": c.frame_blocks, "frame_width": c.frame,
        "files": {name: digest(folder / name) for name in files},
    }  # fmt: skip
    (folder / "head.json").write_text(json.dumps(manifest, indent=1) + "\n")


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
