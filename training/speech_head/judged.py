"""Measures how well the box's recogniser distinguishes the head's speech from wrong speech.

In: the model's file, the head's folder, how many texts, a file to write. Out: for each kind of
sound the fit of the text with it (appliance/voice/speech_aligner.py), and the share of each kind
that a bound would refuse. Texts: held-out answers sentence by sentence, made ones, and trained ones
until there are enough. Kinds: the head's speech; the same with the text of another sentence of
about as many words; with every second word of another; a head with noise in its weights; codes of
the first book permuted; frames in another order.
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import onnx
import soxr
from numpy.typing import NDArray
from onnx import numpy_helper

from appliance.pcm import RATE_HZ, Samples
from appliance.voice.head.codec import Codec
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.judged_part import spoken_words_of
from appliance.voice.speech_aligner import SpeechAligner
from training.pocket import grammar
from training.speech_head import texts
from training.speech_head.states import Model

BOUNDS = (-4.0, -4.5, -5.0, -5.5, -6.0, -7.0, -8.0, -10.0)
DISTURBED = (0.5,)  # noise in units of a weight's own standard deviation
LARGE = 4096  # least number of elements of a weight that gets noise


class Told(NamedTuple):
    """A sentence: its words, and the states of its tokens."""

    words: list[str]
    states: NDArray[np.float32]


def told(model: Model, most: int, aligner: SpeechAligner) -> list[Told]:
    found = texts.build(300, held_out=90)
    requests = grammar.requests()
    sentences = [s for v in found.held_out.values() for s in texts.sentences(v)]
    sentences += [s for s in found.made_held_out if texts.opens(s)]
    sentences += [s for v in found.trained.values() for s in texts.sentences(v)]
    asked = next(iter(requests.values()))[0]
    out = list[Told]()
    for text in sentences:
        words = spoken_words_of(text)
        if words is None or len(words) < 2 or not all(map(aligner.knows, words)):
            continue
        model.ask(asked, persona=True)
        _, states = model.recite(text)
        out.append(Told(words, states))
        if len(out) == most:
            break
    return out


def disturbed(folder: Path, into: Path, amount: float) -> Path:
    """A copy of a head with noise in each large weight of its frames network."""
    rng = np.random.default_rng(0)
    for file in folder.iterdir():
        (into / file.name).write_bytes(file.read_bytes())
    graph = onnx.load(folder / "frames.onnx")
    for weight in graph.graph.initializer:
        numbers = numpy_helper.to_array(weight)
        if numbers.size < LARGE or numbers.dtype.kind != "f" or 2048 in numbers.shape:
            continue  # 2048 rows: the codec's books, which stay unchanged
        noise = amount * numbers.std() * rng.standard_normal(numbers.shape)
        changed = (numbers + noise).astype(numbers.dtype)
        weight.CopyFrom(numpy_helper.from_array(changed, weight.name))
    (into / "frames.onnx").write_bytes(graph.SerializeToString())
    manifest = json.loads((into / "head.json").read_text())
    digest = hashlib.sha256((into / "frames.onnx").read_bytes()).hexdigest()
    manifest["files"]["frames.onnx"] = digest
    (into / "head.json").write_text(json.dumps(manifest))
    return into


def said(head: SpeechHead, states: NDArray[np.float32]) -> tuple[Samples, NDArray[np.int64]]:
    stream = head.begin()
    stream.push(states[:, 1:], states[:, 0])
    stream.end()
    frames = stream.frames()
    return np.concatenate([f.samples for f in frames]), np.stack([f.codes for f in frames])


def decoded(codec: Codec, codes: NDArray[np.int64]) -> Samples:
    samples, _ = codec.decode(codes, codec.start())
    sound: Samples = np.rint(32767 * samples.clip(-1, 1)).astype(np.int16)
    return sound


def half_other(words: list[str], other: list[str]) -> list[str]:
    return [w if i % 2 == 0 else other[i % len(other)] for i, w in enumerate(words)]


def sounds(
    sentences: list[Told], heads: dict[str, SpeechHead], codec: Codec
) -> Iterator[tuple[str, list[str], Samples]]:
    """(kind, words to compare with, sound)."""
    r, rng = Random(0), np.random.default_rng(0)
    exchanged = rng.permutation(2048)
    for one in sentences:
        near = [t for t in sentences if t.words != one.words]
        other = min(near, key=lambda t: (abs(len(t.words) - len(one.words)), r.random())).words
        for name, head in heads.items():
            sound, codes = said(head, one.states)
            yield name, one.words, sound
            if name == "the head":
                yield "another text", other, sound
                yield "every second word another", half_other(one.words, other), sound
                swapped = codes.copy()
                swapped[:, 0] = exchanged[swapped[:, 0]]
                yield "first book exchanged", one.words, decoded(codec, swapped)
                yield "frames in another order", one.words, decoded(codec, rng.permutation(codes))


def measure(model: Path, folder: Path, most: int) -> dict[str, Any]:
    aligner = SpeechAligner()
    sentences = told(Model(model), most, aligner)
    fits, shares = dict[str, list[float]](), list[float]()
    with tempfile.TemporaryDirectory() as place:
        heads = {"the head": SpeechHead(folder)}
        for amount in DISTURBED:
            into = Path(place) / str(amount)
            into.mkdir()
            name = f"weights disturbed by {amount} spreads"
            heads[name] = SpeechHead(disturbed(folder, into, amount))
        codec = Codec(folder / "codec.json")
        for kind, words, sound in sounds(sentences, heads, codec):
            slow = soxr.resample(sound.astype(np.float32), codec.rate_hz, RATE_HZ)
            begin = time.process_time()
            fit = aligner.fit(words, slow.astype(np.int16))
            if kind == "the head":
                shares.append((time.process_time() - begin) / (len(slow) / RATE_HZ))
            fits.setdefault(kind, []).append(fit)
            if kind == "the head" and len(shares) % 10 == 0:
                print(len(shares), "of", len(sentences), file=sys.stderr, flush=True)
    return {
        "sentences": len(sentences),
        "CPU seconds a second of sound, p50 and p95": [
            round(float(np.percentile(shares, q)), 3) for q in (50, 95)
        ],
        "kinds": {
            kind: {
                "fit p5, p50, p95": [round(float(np.percentile(x, q)), 1) for q in (5, 50, 95)],
                "least, most": [round(min(x), 1), round(max(x), 1)],
                "refused, per cent": {
                    bound: round(100 * float(np.mean(np.array(x) < bound)), 1) for bound in BOUNDS
                },
            }
            for kind, x in fits.items()
        },
    }


if __name__ == "__main__":
    weights, shipped, count, into_file = sys.argv[1:]
    result = measure(Path(weights), Path(shipped), int(count))
    Path(into_file).write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
