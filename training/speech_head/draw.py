"""Draws spectrograms of the same texts by the teacher, by the codec's copy of it and by the head,
with the words' borders.

In: the corpus's folder, the model's file, the head's folder, the picture to write. Texts: two
held-out answers and two made sentences, their first three seconds. The borders of the teacher and
of the copy are from the teacher's durations; the head's are those that it reports.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from appliance.voice.head.codec import Codec as Player
from appliance.voice.head.speech_head import SpeechHead
from training.speech_head import corpus, learn_codec
from training.speech_head.states import Model

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the backend was chosen: there is no screen

RATE = 24_000
WINDOW, HOP, FFT = 480, 120, 1024  # samples
SHOWN_S, HIGHEST_HZ, RANGE_DB = 3.2, 8000.0, 60.0
HELD_OUT = (1, 4)  # indices of the held-out answers that are drawn
MADE_S = (2.0, 3.0)  # approximate lengths of the made sentences that are drawn
COLOURS = 32  # palette of the picture, which reduces the file to a sixth
Sound = NDArray[np.float32]


class Line(NamedTuple):
    """One spectrogram. words: start in seconds, and the word."""

    name: str
    sound: Sound
    words: list[tuple[float, str]]


def levels(sound: Sound) -> NDArray[np.float32]:
    """Levels in dB relative to the loudest: [bins, steps]."""
    padded = np.pad(sound, (WINDOW, WINDOW))
    parts = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(parts, FFT)) ** 2
    found = (10 * np.log10(power + 1e-9)).T
    below: NDArray[np.float32] = (found - found.max()).astype(np.float32)
    return below


def begins(pieces: list[str], starts: list[float]) -> list[tuple[float, str]]:
    """The words and their starts, from pieces that start at these seconds."""
    out: list[tuple[float, str]] = []
    for piece, start in zip(pieces, starts, strict=True):
        if piece.startswith(" ") or not out:
            out.append((start, piece.strip()))
        else:
            out[-1] = (out[-1][0], out[-1][1] + piece.strip())
    return out


def lines(r: dict[str, Any], arrays: dict[str, Any], model: Model, tools: Any) -> list[Line]:
    encoder, player, head = tools
    hops = slice(r["hop"], r["hop"] + r["hops"])
    teacher = arrays["sound"][r["sample"] : r["sample"] + r["samples"]].astype(np.float32) / 32768
    p = torch.from_numpy(arrays["parameters"][hops].astype(np.float32))
    codes = encoder.quantise(encoder.encode(p)).numpy()
    copy, _ = player.decode(codes, player.start())
    tokens = slice(r["token"], r["token"] + r["tokens"])
    pieces = [model.piece(t) for t in model.tokens(r["text"], special=False)]
    ends = np.cumsum(arrays["seconds"][tokens].astype(float).sum(1))
    own = begins(pieces, [0.0, *ends[:-1].tolist()])
    states = arrays["states"][tokens].astype(np.float32)
    stream = head.begin()
    stream.push(states[:, 1:], states[:, 0])
    stream.end()
    frames = stream.frames()
    said = np.concatenate([f.samples for f in frames]).astype(np.float32)
    said /= 32768
    first = [next((i for i, f in enumerate(frames) if f.token >= t), len(frames)) * 0.08
             for t in range(len(pieces))]  # fmt: skip
    return [
        Line("teacher", teacher, own),
        Line("codec's copy", copy, own),
        Line("head", said, begins(pieces, first)),
    ]


def draw(work: Path, weights: Path, folder: Path, into: Path) -> None:
    _, rows, arrays = corpus.load(work)
    tools = learn_codec.load(work), Player(folder / "codec.json"), SpeechHead(folder)
    model = Model(weights)
    held = [r for r in rows if r["kind"] == "held_out" and r["samples"]]
    made = [r for r in rows if r["kind"] == "made_held_out" and r["samples"]]
    chosen = [held[n] for n in HELD_OUT]
    chosen += [min(made, key=lambda r: abs(r["samples"] / RATE - s)) for s in MADE_S]
    figure = plt.figure(figsize=(13, 9.5), dpi=95)
    outer = figure.add_gridspec(2, 2, hspace=0.16, wspace=0.06)
    for number, r in enumerate(chosen):
        inner = outer[divmod(number, 2)].subgridspec(3, 1, hspace=0.2)
        for at, line in enumerate(lines(r, arrays, model, tools)):
            axis = figure.add_subplot(inner[at])
            shown = levels(line.sound[: int(SHOWN_S * RATE)])
            axis.imshow(
                shown, origin="lower", aspect="auto", cmap="magma", vmin=-RANGE_DB, vmax=0,
                extent=(-WINDOW / 2 / RATE, shown.shape[1] * HOP / RATE, 0, RATE / 2000),
            )  # fmt: skip
            axis.set(xlim=(0, SHOWN_S), ylim=(0, HIGHEST_HZ / 1000), yticks=[0, 2, 4, 6, 8])
            if at < 2:
                axis.set_xticklabels([])
            axis.set_facecolor("black")
            axis.tick_params(labelsize=7)
            if number % 2 == 0:
                axis.set_ylabel(f"{line.name}, kHz", fontsize=8)
            for start, word in line.words:
                if start < SHOWN_S - 0.1:
                    axis.axvline(start, color="#8fd3ff", lw=0.6)
                    axis.text(start + 0.01, HIGHEST_HZ / 1000 + 0.15, word, fontsize=6)
    figure.savefig(into, bbox_inches="tight")
    picture = Image.open(into).convert("RGB").quantize(COLOURS)
    picture.save(into, optimize=True)
    print(into, into.stat().st_size, "bytes:", [r["text"][:60] for r in chosen])


if __name__ == "__main__":
    torch.set_num_threads(1)
    draw(*map(Path, sys.argv[1:]))
