"""A second recogniser: OpenAI's Whisper, by CTranslate2, from a folder that was downloaded by hand
(model.bin, config.json, vocabulary.txt or .json, as `ct2-transformers-converter` writes them). In:
samples at 24 kHz. Out: words.

Whisper's language model is much stronger than pocketsphinx's, so it makes fewer errors on unclear
speech. It writes numbers as digits; the texts here have none.
"""

import re
from pathlib import Path

import ctranslate2
import numpy as np
import soxr
from numpy.typing import NDArray

from appliance.hear.turn.log_mel import scaled_bands
from training.speech_head.recogniser import words

RATE, HOP, WINDOW_S = 16_000, 160, 30
PEAK = 0.7


def byte_of() -> dict[str, int]:
    """GPT-2's table: the byte of each character of a token."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(rest)}


class Whisper:
    def __init__(self, folder: Path) -> None:
        self.model = ctranslate2.models.Whisper(str(folder), intra_threads=1, compute_type="int8")
        self.byte = byte_of()
        start = ["<|startoftranscript|>"]
        if self.model.is_multilingual:
            start += ["<|en|>", "<|transcribe|>"]
        self.prompt = [*start, "<|notimestamps|>"]

    def hear(self, sound: NDArray[np.float32], rate: int = 24_000) -> list[str]:
        """Recognise a sound; one longer than 28 s is cut at its quietest places."""
        y = soxr.resample(sound.astype(np.float32), rate, RATE)
        y *= PEAK / max(1e-6, float(np.abs(y).max(initial=0.0)))
        return [word for part in self.parts(y) for word in self.heard(part)]

    def parts(self, y: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        out = []
        most, least = (WINDOW_S - 2) * RATE, 15 * RATE
        while len(y) > most:
            levels = np.abs(y[least:most]).reshape(-1, RATE // 20).max(1)
            cut = least + int(levels.argmin()) * (RATE // 20) + RATE // 40
            out.append(y[:cut])
            y = y[cut:]
        return [*out, y]

    def heard(self, y: NDArray[np.float32]) -> list[str]:
        padded = np.zeros(WINDOW_S * RATE, np.float32)
        padded[RATE // 2 : RATE // 2 + len(y)] = y
        features = np.ascontiguousarray(scaled_bands(padded, WINDOW_S * RATE // HOP)[None])
        found = self.model.generate(
            ctranslate2.StorageView.from_array(features), [self.prompt], beam_size=5
        )
        tokens = [t for t in found[0].sequences[0] if not re.fullmatch(r"<\|.*\|>", t)]
        text = bytes(self.byte[c] for c in "".join(tokens)).decode(errors="replace")
        return words(text.replace("’", "'"))
