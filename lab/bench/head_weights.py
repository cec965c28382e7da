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
    described = read_manifest(codec)
    files = {name: _digest(folder / name) for name in (*GRAPHS, codec.name)}
    manifest: dict[str, Any] = {
        "format": 1, "model": "", "layers": sizes.layers, "width": sizes.width,
        "rate_hz": described.rate_hz, "frame_samples": described.frame_samples,
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

    def random(self, out: int, given: int, scale: float = 1.0) -> Floats:
        """float32[out, given], scaled so that a product keeps the variance of its input."""
        found = self._rng.standard_normal((out, given), np.float32)
        return found * np.float32(scale / math.sqrt(given))

    def linear(self, x: str, given: int, out: int, *, exact: bool = False) -> str:
        y = self.graph.product(x, self.random(out, given), exact=exact)
        return self.graph.add(y, self.graph.constant(np.zeros(out, np.float32)))

    def norm(self, x: str, width: int) -> str:
        one, none = np.ones(width, np.float32), np.zeros(width, np.float32)
        g = self.graph
        return g.op("LayerNormalization", x, g.constant(one), g.constant(none), axis=-1)

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
        every = g.op("Range", g.constant(np.array(0)), rows, g.constant(np.array(1)))
        index = g.add(g.op("Unsqueeze", every, g.ints(1)), g.ints(*range(taps)))
        return g.reshape(g.op("Gather", padded, index, axis=0), -1, taps * width)

    def model(self, inputs: list[Value], outputs: list[Value], name: str) -> bytes:
        return self.graph.model(
            [value_info(*each) for each in inputs], [value_info(*each) for each in outputs], name
        )


def _reader(layers: _Layers, c: HeadSizes) -> bytes:
    g = layers.graph
    states = layers.norm("states", c.width)
    embedding = g.op("Squeeze", g.cut(states, 0, 1, 1), g.ints(1))
    above = g.cut(states, 1, 1 + c.layers, 1)
    weights = g.constant(np.full((c.layers, 1), 1 / c.layers, np.float32))
    mixed = g.op("ReduceSum", g.multiply(above, weights), g.ints(1), keepdims=0)
    x = layers.linear(g.concat(1, mixed, embedding), 2 * c.width, c.token)
    y = layers.around(layers.norm(x, c.token), c.token, 1, 1)
    y = layers.gelu(layers.linear(y, TOKEN_TAPS * c.token, 2 * c.token))
    x = layers.norm(g.add(x, layers.linear(y, 2 * c.token, c.token)), c.token)
    z = layers.linear(layers.gelu(layers.linear(x, c.token, c.spell)), c.spell, c.slots * c.symbols)
    decides = np.zeros((c.slots, c.symbols), np.float32)
    decides[:PHONES_A_TOKEN, 0], decides[PHONES_A_TOKEN:, 0] = -NEVER, NEVER
    z = g.add(g.reshape(z, -1, c.slots, c.symbols), g.constant(decides))
    g.op("Identity", x, out="vectors")
    g.op("ArgMax", z, axis=-1, keepdims=0, out="phones")
    return layers.model(
        [("states", FLOAT, ["n", 1 + c.layers, c.width])],
        [("vectors", FLOAT, ["n", c.token]), ("phones", INT64, ["n", c.slots])],
        "read",
    )


def _phones(layers: _Layers, c: HeadSizes) -> bytes:
    g = layers.graph
    names = g.op("Gather", g.constant(layers.random(c.symbols, c.phone)), "symbols", axis=0)
    x = g.add(names, layers.linear("tokens", c.token, c.phone))
    for before, after in ((2, 2), (3, 1)):
        y = layers.around(x, c.phone, before, after)
        y = layers.norm(layers.linear(y, PHONE_TAPS * c.phone, c.phone), c.phone)
        y = layers.gelu(layers.linear(y, c.phone, 2 * c.phone))
        x = g.add(x, layers.linear(y, 2 * c.phone, c.phone))
    x = layers.norm(x, c.phone)
    length = g.product(x, layers.random(1, c.phone, 0.01), exact=True)
    length = g.add(length, g.scalar(math.log(PHONE_S)))
    g.op("Identity", x, out="vectors")
    g.op("Reshape", g.op("Exp", length), g.ints(-1), out="seconds")
    return layers.model(
        [("symbols", INT64, ["n"]), ("tokens", FLOAT, ["n", c.token])],
        [("vectors", FLOAT, ["n", c.phone]), ("seconds", FLOAT, ["n"])],
        "phones",
    )


def _frames(layers: _Layers, c: HeadSizes) -> bytes:
    g = layers.graph
    given = g.reshape(g.concat(2, "under", "at"), -1, c.phone + POSITION)
    x = layers.gelu(layers.linear(given, c.phone + POSITION, c.point))
    x = layers.gelu(layers.linear(g.reshape(x, 1, POINTS * c.point), POINTS * c.point, c.frame))
    pasts = [f"past{i}" for i in range(c.frame_blocks)]
    for past in pasts:
        joined = g.concat(2, past, g.reshape(x, 1, c.frame, 1))
        g.cut(joined, 1, FRAME_TAPS, 2, out=f"{past}_next")
        taps = g.constant(layers.random(c.frame, FRAME_TAPS)[None])
        y = g.op("ReduceSum", g.multiply(joined, taps), g.ints(2), keepdims=0)
        y = layers.gelu(layers.linear(layers.norm(y, c.frame), c.frame, 2 * c.frame))
        x = g.add(x, layers.linear(y, 2 * c.frame, c.frame))
    z = layers.linear(layers.norm(x, c.frame), c.frame, c.latent)
    halves = g.cut(z, 0, BOOK_WIDTH, 1), g.cut(z, BOOK_WIDTH, 2 * BOOK_WIDTH, 1)
    left = list(halves)
    codes = []
    for number in range(BOOKS):
        kind = 0 if number < SEMANTIC_BOOKS else 1
        book = layers.random(CODES, BOOK_WIDTH, math.sqrt(BOOK_WIDTH))
        near = g.product(left[kind], book, exact=True)
        off = g.op("Sub", g.constant((0.5 * (book * book).sum(1)).astype(np.float32)), near)
        code = g.op("ArgMin", off, axis=1, keepdims=0)
        left[kind] = g.op("Sub", left[kind], g.op("Gather", g.constant(book), code, axis=0))
        codes.append(g.op("Unsqueeze", code, g.ints(1)))
    g.concat(1, *codes, out="codes")
    state: list[int | str] = [1, c.frame, PAST_FRAMES]
    return layers.model(
        [
            ("under", FLOAT, [1, POINTS, c.phone]),
            ("at", FLOAT, [1, POINTS, POSITION]),
            *((past, FLOAT, state) for past in pasts),
        ],
        [("codes", INT64, [1, BOOKS]), *((f"{past}_next", FLOAT, state) for past in pasts)],
        "frames",
    )


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
