"""Recognises words by sherpa-onnx. The only import of it.

It has a keyword spotter, for the owner's phrases and for any wake word, and a streaming recogniser
for any word. Both are transducers of three networks, encoder, decoder and joiner, with a list of
tokens.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sherpa_onnx

from appliance.atomic_file import read_small
from appliance.errors import ModelError
from appliance.hear.words import phrases
from appliance.hear.words.interfaces import WordHypothesis
from appliance.pcm import RATE_HZ, Samples, to_float

_WORD = "▁"  # SentencePiece's mark of the start of a word
_TAIL = np.zeros(RATE_HZ * 4 // 10, np.float32)  # padding, since the encoder takes chunks of 320 ms
_MOST_TOKENS_BYTES = 1 << 20  # of a model's list of tokens; those of the catalogue have 5 kB
_BOOST = 1.5  # of a keyword's tokens in the beam
_THRESHOLD = 0.25, 0.5  # by the model's authors, and its change from sensitivity 1 to 0


def pieces(phrase: str, tokens: dict[str, int]) -> list[str] | None:
    """Encode `phrase` in the model's tokens; None if a letter has no token.

    Byte pair encoding (Sennrich et al., 2016): of all adjacent pairs the one that was learned first
    is merged; tokens are numbered in the order in which they were learned.
    """
    upper = sum(token.isupper() for token in tokens) > sum(token.islower() for token in tokens)
    encoded: list[str] = []
    for word in phrase.replace("-", " ").split():
        parts = list(_WORD + (word.upper() if upper else word.lower()))
        while True:
            merges = [
                (tokens[a + b], at)
                for at, (a, b) in enumerate(itertools.pairwise(parts))
                if a + b in tokens
            ]
            if not merges:
                break
            at = min(merges)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        encoded += parts
    return encoded if all(part in tokens for part in encoded) else None


class _WholeSegment:
    """Base class: collects a segment's sound and decodes all of it at each hypothesis."""

    def start(self) -> None:
        self._chunks: list[npt.NDArray[np.float32]] = []

    def process(self, samples: Samples) -> None:
        self._chunks.append(to_float(samples))

    def _ended_stream(self, model: Any) -> Any:
        """A finished stream of `model` with the complete sound so far."""
        stream = model.create_stream()
        stream.accept_waveform(RATE_HZ, np.concatenate([*self._chunks, _TAIL]))
        stream.input_finished()
        return stream


class SherpaKeywords(_WholeSegment):
    """Recognises the owner's phrases; those without tokens in the model are `unknown`."""

    name = "sherpa-onnx keywords"

    def __init__(self, files: dict[str, Path], listed: tuple[str, ...]) -> None:
        self._spotter, self._names, self.unknown = _spotter(files, listed, _THRESHOLD[0])
        self.start()

    def hypothesis(self) -> WordHypothesis:
        stream = self._ended_stream(self._spotter)
        found = []
        while self._spotter.is_ready(stream):
            self._spotter.decode_stream(stream)
            if result := self._spotter.get_result(stream):
                found.append(self._names[result])
                self._spotter.reset_stream(stream)
        return WordHypothesis(" ".join(found), 1.0 if found else 0.0)


class SherpaTranscript(_WholeSegment):
    """Transcribes any words."""

    name = "sherpa-onnx transcript"
    unknown: tuple[str, ...] = ()

    def __init__(self, files: dict[str, Path]) -> None:
        roles = {role: str(path) for role, path in files.items()}
        self._recogniser = sherpa_onnx.OnlineRecognizer.from_transducer(
            **{role: roles[role] for role in ("tokens", "encoder", "decoder", "joiner")},
            num_threads=1,
            decoding_method="modified_beam_search",
        )
        self.start()

    def hypothesis(self) -> WordHypothesis:
        stream = self._ended_stream(self._recogniser)
        while self._recogniser.is_ready(stream):
            self._recogniser.decode_stream(stream)
        text = phrases.plain(self._recogniser.get_result(stream))
        return WordHypothesis(text, 1.0 if text else 0.0)


class SherpaWakeWord:
    """Detects any phrase with tokens in the keyword model. Raises ModelError for another."""

    name = "sherpa-onnx"
    score = threshold = 0.0  # the spotter provides no scores
    late_frames = RATE_HZ // 5  # assumed from the encoder's chunks of 320 ms; not measured

    def __init__(self, files: dict[str, Path], phrase: str, sensitivity: float = 0.5) -> None:
        self.phrase = phrase
        middle, span = _THRESHOLD
        threshold = min(0.95, max(0.02, middle + span * (0.5 - sensitivity)))
        self._spotter, _, unknown = _spotter(files, (phrase,), threshold)
        if unknown:
            raise ModelError(f"`hearing.wake.phrase`: `{phrase}` cannot be spelt by the model.",
                             "Choose words of common English.")  # fmt: skip
        self.reset()

    def process(self, samples: Samples) -> float | None:
        self._stream.accept_waveform(RATE_HZ, to_float(samples))
        score = None
        while self._spotter.is_ready(self._stream):
            self._spotter.decode_stream(self._stream)
            if self._spotter.get_result(self._stream):
                self._spotter.reset_stream(self._stream)
                score = 1.0  # above the threshold; the spotter provides no score
        return score

    def reset(self) -> None:
        self._stream = self._spotter.create_stream()


def _spotter(
    files: dict[str, Path], listed: tuple[str, ...], threshold: float
) -> tuple[Any, dict[str, str], tuple[str, ...]]:
    """sherpa-onnx's spotter, the phrase of each of its names, and the phrases left out."""
    tokens = read_tokens(files["tokens"])
    encoded = {phrase: pieces(phrase, tokens) for phrase in listed}
    unknown = tuple(phrase for phrase, parts in encoded.items() if parts is None)
    names = {phrase.replace(" ", "_"): phrase for phrase in listed if phrase not in unknown}
    lines = [f"{' '.join(encoded[p] or [])} @{name}\n" for name, p in names.items()]
    # In memory: this process may write no file.
    with os.fdopen(os.memfd_create("keywords"), "w", encoding="utf-8") as keywords:
        keywords.write("".join(lines))
        keywords.flush()
        spotter = sherpa_onnx.KeywordSpotter(
            **{role: str(files[role]) for role in ("tokens", "encoder", "decoder", "joiner")},
            keywords_file=f"/proc/self/fd/{keywords.fileno()}",
            keywords_score=_BOOST,
            keywords_threshold=threshold,
            num_threads=1,
        )
    return spotter, names, unknown


def read_tokens(path: Path) -> dict[str, int]:
    """Read tokens.txt, a token and its number per line. Raises ModelError for another format."""
    try:
        text = read_small(path, _MOST_TOKENS_BYTES, links=True).decode()
        pairs = [line.rsplit(maxsplit=1) for line in text.splitlines()]
        return {token: int(number) for token, number in pairs}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: is no list of tokens ({error}).",
                         "Fetch the model again.") from error  # fmt: skip
