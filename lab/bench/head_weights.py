"""Writes a speech head with random weights, of the size for Gemma 4 E2B and Mimi: it costs as much
as a trained one. It is the network of training/speech_head/head.py, built without torch.

Biases fix five phones a token and about 62 ms a phone, as the teacher speaks: a head with random
weights alone would make twenty-four phones of every token.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from appliance.models.onnx_graph.graph import Form, Graph
from appliance.models.onnx_graph.onnx_format import FLOAT, INT64, value_info
from appliance.voice.head.head_manifest import GRAPHS
from appliance.voice.head.manifest import read_manifest
from appliance.voice.head.networks import PAST_FRAMES

Floats = npt.NDArray[np.float32]
Value = tuple[str, int, list[int | str]]

POINTS, POSITION = 8, 5  # points of a frame at which the phone is looked up; numbers for each point
BACK, AHEAD = 5, 3  # phones that the phone network sees before and after one
PHONE_TAPS, FRAME_TAPS, TOKEN_TAPS = 5, PAST_FRAMES + 1, 3
CODES, SEMANTIC_BOOKS, BOOKS, BOOK_WIDTH = 2048, 1, 8, 256
PHONES_A_TOKEN = 5
PHONE_S = 0.0625
NEVER = 30.0  # magnitude of a logit's bias that decides the outcome


@dataclass(frozen=True)
class HeadSizes:
    """Layer sizes, as `HeadConfig` of training/speech_head/head.py; the defaults are its `E2B`."""

    width: int = 1536
    layers: int = 6
    symbols: int = 96
    slots: int = 24
    token: int = 1024
    spell: int = 2048
    phone: int = 768
    point: int = 384
    frame: int = 1024
    frame_blocks: int = 6
    latent: int = 512

    @property
    def reader(self) -> int:
        """Weights of the reader network, without norms and biases."""
        around = TOKEN_TAPS * self.token * 2 * self.token + 2 * self.token * self.token
        spelt = self.token * self.spell + self.spell * self.slots * self.symbols
        return 2 * self.width * self.token + around + spelt

    @property
    def phones(self) -> int:
        """Weights of the phone network, without its embedding table."""
        block = (PHONE_TAPS + 4) * self.phone**2
        return self.token * self.phone + 2 * block

    @property
    def frames(self) -> int:
        """Weights of the frame network, without the codec's codebooks."""
        block = 4 * self.frame**2 + FRAME_TAPS * self.frame
        entering = POINTS * self.point * self.frame + (self.phone + POSITION) * self.point
        return entering + self.frame_blocks * block + self.frame * self.latent

    @property
    def books(self) -> int:
        return BOOKS * CODES * BOOK_WIDTH


E2B = HeadSizes()


def write(folder: Path, codec: Path, form: Form, seed: int, sizes: HeadSizes = E2B) -> Path:
    """Write a head into `folder`, which holds the codec's manifest `codec`. `form`: number format
    of all products but those with the codebooks. Returns the folder. Raises OSError."""
    rng = np.random.default_rng(seed)
    for name, build in zip(GRAPHS, (_reader, _phones, _frames), strict=True):
        data = (folder / name).with_suffix(".data")
        with data.open("wb") as target:
            (folder / name).write_bytes(build(_Layers(form, target, data.name, rng), sizes))
    codec_manifest = read_manifest(codec)
    files = {name: _digest(folder / name) for name in (*GRAPHS, codec.name)}
    manifest: dict[str, Any] = {
        "format": 1, "model": "", "layers": sizes.layers, "width": sizes.width,
        "rate_hz": codec_manifest.rate_hz, "frame_samples": codec_manifest.frame_samples,
        "lead_tokens": 1 + AHEAD, "dbfs": -20.0, "codec": codec.name,
        "phones_behind": BACK, "phones_ahead": AHEAD, "silence": 1,
        "frame_blocks": sizes.frame_blocks, "frame_width": sizes.frame, "files": files,
    }  # fmt: skip
    (folder / "head.json").write_text(json.dumps(manifest))
    return folder


class _Layers:
    """Builds a graph of layers with random weights."""

    def __init__(self, form: Form, data: IO[bytes], file: str, rng: np.random.Generator) -> None:
        self.graph = Graph(form, data, file, by_row=True)
        self._rng = rng

    def random(self, out: int, inputs: int, scale: float = 1.0) -> Floats:
        """float32[out, inputs], scaled so that a product keeps the variance of its input."""
        weights = self._rng.standard_normal((out, inputs), np.float32)
        return weights * np.float32(scale / math.sqrt(inputs))

    def linear(self, x: str, inputs: int, out: int, *, exact: bool = False) -> str:
        y = self.graph.product(x, self.random(out, inputs), exact=exact)
        return self.graph.add(y, self.graph.constant(np.zeros(out, np.float32)))

    def norm(self, x: str, width: int) -> str:
        ones, zeros = np.ones(width, np.float32), np.zeros(width, np.float32)
        g = self.graph
        return g.op("LayerNormalization", x, g.constant(ones), g.constant(zeros), axis=-1)

    def gelu(self, x: str) -> str:
        return self.graph.op("Gelu", x)

    def around(self, x: str, width: int, before: int, after: int) -> str:
        """[n, width] → [n, (before + 1 + after) · width]: each row joined with its neighbours."""
        g, taps = self.graph, before + 1 + after
        padded = g.concat(
            0,
            g.constant(np.zeros((before, width), np.float32)),
            x,
            g.constant(np.zeros((after, width), np.float32)),
        )
        rows = g.op("Squeeze", g.cut(g.op("Shape", x), 0, 1, 0))
        indices = g.op("Range", g.constant(np.array(0)), rows, g.constant(np.array(1)))
        index = g.add(g.op("Unsqueeze", indices, g.ints(1)), g.ints(*range(taps)))
        return g.reshape(g.op("Gather", padded, index, axis=0), -1, taps * width)

    def model(self, inputs: list[Value], outputs: list[Value], name: str) -> bytes:
        return self.graph.model(
            [value_info(*value) for value in inputs],
            [value_info(*value) for value in outputs],
            name,
        )


def _reader(layers: _Layers, sizes: HeadSizes) -> bytes:
    g = layers.graph
    states = layers.norm("states", sizes.width)
    embedding = g.op("Squeeze", g.cut(states, 0, 1, 1), g.ints(1))
    hidden = g.cut(states, 1, 1 + sizes.layers, 1)
    weights = g.constant(np.full((sizes.layers, 1), 1 / sizes.layers, np.float32))
    mixed = g.op("ReduceSum", g.multiply(hidden, weights), g.ints(1), keepdims=0)
    x = layers.linear(g.concat(1, mixed, embedding), 2 * sizes.width, sizes.token)
    y = layers.around(layers.norm(x, sizes.token), sizes.token, 1, 1)
    y = layers.gelu(layers.linear(y, TOKEN_TAPS * sizes.token, 2 * sizes.token))
    x = layers.norm(g.add(x, layers.linear(y, 2 * sizes.token, sizes.token)), sizes.token)
    z = layers.linear(
        layers.gelu(layers.linear(x, sizes.token, sizes.spell)),
        sizes.spell,
        sizes.slots * sizes.symbols,
    )
    bias = np.zeros((sizes.slots, sizes.symbols), np.float32)
    bias[:PHONES_A_TOKEN, 0], bias[PHONES_A_TOKEN:, 0] = -NEVER, NEVER
    z = g.add(g.reshape(z, -1, sizes.slots, sizes.symbols), g.constant(bias))
    g.op("Identity", x, out="vectors")
    g.op("ArgMax", z, axis=-1, keepdims=0, out="phones")
    return layers.model(
        [("states", FLOAT, ["n", 1 + sizes.layers, sizes.width])],
        [("vectors", FLOAT, ["n", sizes.token]), ("phones", INT64, ["n", sizes.slots])],
        "read",
    )


def _phones(layers: _Layers, sizes: HeadSizes) -> bytes:
    g = layers.graph
    names = g.op("Gather", g.constant(layers.random(sizes.symbols, sizes.phone)), "symbols", axis=0)
    x = g.add(names, layers.linear("tokens", sizes.token, sizes.phone))
    for before, after in ((2, 2), (3, 1)):
        y = layers.around(x, sizes.phone, before, after)
        y = layers.norm(layers.linear(y, PHONE_TAPS * sizes.phone, sizes.phone), sizes.phone)
        y = layers.gelu(layers.linear(y, sizes.phone, 2 * sizes.phone))
        x = g.add(x, layers.linear(y, 2 * sizes.phone, sizes.phone))
    x = layers.norm(x, sizes.phone)
    length = g.product(x, layers.random(1, sizes.phone, 0.01), exact=True)
    length = g.add(length, g.scalar(math.log(PHONE_S)))
    g.op("Identity", x, out="vectors")
    g.op("Reshape", g.op("Exp", length), g.ints(-1), out="seconds")
    return layers.model(
        [("symbols", INT64, ["n"]), ("tokens", FLOAT, ["n", sizes.token])],
        [("vectors", FLOAT, ["n", sizes.phone]), ("seconds", FLOAT, ["n"])],
        "phones",
    )


def _frames(layers: _Layers, sizes: HeadSizes) -> bytes:
    g = layers.graph
    inputs = g.reshape(g.concat(2, "under", "at"), -1, sizes.phone + POSITION)
    x = layers.gelu(layers.linear(inputs, sizes.phone + POSITION, sizes.point))
    x = layers.gelu(
        layers.linear(g.reshape(x, 1, POINTS * sizes.point), POINTS * sizes.point, sizes.frame)
    )
    pasts = [f"past{i}" for i in range(sizes.frame_blocks)]
    for past in pasts:
        joined = g.concat(2, past, g.reshape(x, 1, sizes.frame, 1))
        g.cut(joined, 1, FRAME_TAPS, 2, out=f"{past}_next")
        taps = g.constant(layers.random(sizes.frame, FRAME_TAPS)[None])
        y = g.op("ReduceSum", g.multiply(joined, taps), g.ints(2), keepdims=0)
        y = layers.gelu(layers.linear(layers.norm(y, sizes.frame), sizes.frame, 2 * sizes.frame))
        x = g.add(x, layers.linear(y, 2 * sizes.frame, sizes.frame))
    z = layers.linear(layers.norm(x, sizes.frame), sizes.frame, sizes.latent)
    halves = g.cut(z, 0, BOOK_WIDTH, 1), g.cut(z, BOOK_WIDTH, 2 * BOOK_WIDTH, 1)
    residuals = list(halves)
    codes = []
    for number in range(BOOKS):
        kind = 0 if number < SEMANTIC_BOOKS else 1
        book = layers.random(CODES, BOOK_WIDTH, math.sqrt(BOOK_WIDTH))
        products = g.product(residuals[kind], book, exact=True)
        distances = g.op(
            "Sub", g.constant((0.5 * (book * book).sum(1)).astype(np.float32)), products
        )
        code = g.op("ArgMin", distances, axis=1, keepdims=0)
        residuals[kind] = g.op(
            "Sub", residuals[kind], g.op("Gather", g.constant(book), code, axis=0)
        )
        codes.append(g.op("Unsqueeze", code, g.ints(1)))
    g.concat(1, *codes, out="codes")
    state: list[int | str] = [1, sizes.frame, PAST_FRAMES]
    return layers.model(
        [
            ("under", FLOAT, [1, POINTS, sizes.phone]),
            ("at", FLOAT, [1, POINTS, POSITION]),
            *((past, FLOAT, state) for past in pasts),
        ],
        [("codes", INT64, [1, BOOKS]), *((f"{past}_next", FLOAT, state) for past in pasts)],
        "frames",
    )


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
