"""The teacher: hibari-tts, a small American voice, with intermediate values of its graph.

In: a sentence. Out: `Said`: the phones of each of its words and marks with their seconds, sound at
24 kHz, and the noise in it every 12.5 ms. Durations are the graph's `/Clip_output_0`, in units of
25 ms. The 0.3 s of silence before the first word are cut.
"""

import re
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
from hibari import Hibari, dsp
from hibari.g2p import normalize
from numpy.typing import NDArray

from training.speech_head import digits

RATE, HOP, UNIT = 24_000, 300, 600  # Hz; samples of a frame; samples of a duration's unit
START_UNITS, END_UNITS = 2, 8  # silence before a sentence's first phone and after its last
SILENCE, SPACE = "_", " "
NO_GAIN = -50.0  # natural log
MARKS = ";:,.!?—…"
PIECE = re.compile(r" ?[A-Za-z']+| ?[0-9]|[^A-Za-z' ]")
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Said:
    """One sentence.

    pieces   the text, cut like the pocket model's tokens
    phones   for each piece its phones and their seconds
    samples  [n]
    steady   the samples without the random noise
    noise    [n // 300, 601]: natural log of that noise's gain, in bins of 20 Hz
    """

    pieces: list[str]
    phones: list[list[tuple[str, float]]]
    samples: Floats
    steady: Floats
    noise: Floats


class Teacher:
    def __init__(self, seed: int = 0) -> None:
        self.hibari = Hibari(threads=1)
        graph = onnx.load(self.hibari.model_path)
        graph.graph.output.append(onnx.ValueInfoProto(name="/Clip_output_0"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
        self.random = np.random.default_rng(seed)

    def spell(self, sentence: str) -> tuple[list[str], list[str]] | None:
        """Pieces, and for each its phones; None if the two cannot be aligned."""
        parts = digits.spoken(PIECE.findall(sentence))
        found = self.spell_words("".join(said for _, said in parts).strip())
        if found is None or len(found) != sum(bool(said) for _, said in parts):
            return None
        phones = iter(found)
        return [p for p, _ in parts], [next(phones) if said else "" for _, said in parts]

    def spell_words(self, sentence: str) -> list[str] | None:
        """The phones of each word and mark of a sentence without digits; None if not aligned."""
        g2p = self.hibari.g2p
        if normalize(sentence) != sentence:
            return None
        phones: list[str] = []
        words = sentence.split(" ")
        groups = [t for t in g2p.phonemize_tokens(g2p.tokenize(sentence)) if t.text]
        merged: list[list[str]] = [["", ""]]
        for t in groups:
            merged[-1][0] += t.text
            merged[-1][1] += t.phonemes or ""
            if t.whitespace:
                merged.append(["", ""])
        if [m[0] for m in merged if m[0]] != words:
            return None
        for text, spoken in merged:
            own = PIECE.findall(text)
            marks = [p for p in own if p in MARKS]
            letters = [p for p in own if p not in MARKS]
            said = spoken.rstrip(MARKS)
            if len(letters) > 1 or (not letters and said) or SPACE in said:
                return None
            phones += [said] * len(letters) + marks
        known = self.hibari.vocab
        return phones if all(c in known for p in phones for c in p) else None

    def say(self, sentence: str, aloud: bool = True) -> Said | None:
        """Synthesise a sentence; None if it cannot be spelled piece by piece.

        Without `aloud` the result has only phones and seconds.
        """
        spelled = self.spell(sentence)
        if spelled is None:
            return None
        pieces, spoken = spelled
        line, owner = SILENCE, [0]
        for i, (piece, phones) in enumerate(zip(pieces, spoken, strict=True)):
            apart = i and phones and piece.strip() not in MARKS
            text = (SPACE if apart else "") + phones
            line += text
            owner += [i] * len(text)
        line, owner = line + SILENCE, [*owner, len(pieces) - 1]
        ids = [self.hibari.vocab.get(c, 0) for c in line]
        feed = {"ids": np.array([ids], np.int64), "speed": np.ones(1, np.float32)}
        if not aloud:
            units = self.session.run(["/Clip_output_0"], feed)[0].reshape(-1).astype(int)
            trimmed(units)
            return Said(pieces, owned(pieces, line, owner, units), *[np.zeros(0, np.float32)] * 3)
        *parts, units = self.session.run(None, feed)
        harmonic, turn, noise, rest, phase, hz = (p[0] for p in parts)
        units = units.reshape(-1).astype(int)
        sound = dsp.synth(harmonic, turn, noise, rest, phase, hz, self.random)
        steady = dsp.synth(
            harmonic, turn, np.full_like(noise, NO_GAIN), rest, phase, hz, self.random
        )
        cut, grow = trimmed(units)
        cut *= UNIT // HOP

        def trim(x: Floats) -> Floats:
            return np.concatenate([x[cut * HOP :], np.zeros(grow * UNIT, np.float32)])

        behind = np.repeat(noise.T[-1:], grow * UNIT // HOP, 0)
        owning = owned(pieces, line, owner, units)
        return Said(
            pieces, owning, trim(sound), trim(steady), np.concatenate([noise.T[cut:], behind])
        )


def trimmed(units: NDArray[np.int64]) -> tuple[int, int]:
    """Shorten the silence at the start, lengthen that at the end, in place; by how many units."""
    cut, grow = max(0, int(units[0]) - START_UNITS), max(0, END_UNITS - int(units[-1]))
    units[0] -= cut
    units[-1] += grow
    return cut, grow


def owned(
    pieces: list[str], line: str, owner: list[int], units: NDArray[np.int64]
) -> list[list[tuple[str, float]]]:
    """For each piece its phones with their seconds."""
    out: list[list[tuple[str, float]]] = [[] for _ in pieces]
    for symbol, own, n in zip(line, owner, units, strict=True):
        out[own].append((symbol, float(n) * UNIT / RATE))
    return out
