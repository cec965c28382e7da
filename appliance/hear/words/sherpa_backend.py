"""Words by sherpa-onnx: the only import of it.

A keyword spotter, for the owner's phrases and for any wake word, and a streaming recogniser, for
any word. Both are transducers in three networks: encoder, decoder, joiner, and a list of tokens.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sherpa_onnx

from appliance.errors import ModelError
from appliance.hear.words import phrases
from appliance.hear.words.interfaces import WordHypothesis
from appliance.pcm import RATE_HZ, Samples, to_float

_WORD = "▁"  # SentencePiece's mark of a word's beginning
_TAIL = np.zeros(RATE_HZ * 4 // 10, np.float32)  # its encoder sees a chunk of 320 ms at a time
_BOOST = 1.5  # of a keyword's tokens in the beam
_THRESHOLD = 0.25, 0.5  # of the model's authors, and how far the sensitivity moves it


def pieces(phrase: str, tokens: dict[str, int]) -> list[str] | None:
    """`phrase` in the model's tokens, or None if it has none for a letter of it.

    Byte pair encoding: of all neighbours the pair is joined that was learned first; tokens are
    numbered in the order in which they were learned (Sennrich et al., 2016).
    """
    upper = sum(token.isupper() for token in tokens) > sum(token.islower() for token in tokens)
    out: list[str] = []
    for word in phrase.replace("-", " ").split():
        parts = list(_WORD + (word.upper() if upper else word.lower()))
        while True:
            joined = [
                (tokens[a + b], at)
                for at, (a, b) in enumerate(itertools.pairwise(parts))
                if a + b in tokens
            ]
            if not joined:
                break
            at = min(joined)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        out += parts
    return out if all(part in tokens for part in out) else None


class _WholeSegment:
    """Collects a segment's sound, and decodes all of it at each hypothesis."""

    def start(self) -> None:
        self._heard: list[npt.NDArray[np.float32]] = []

    def process(self, samples: Samples) -> None:
        self._heard.append(to_float(samples))

    def _ended_stream(self, model: Any) -> Any:
        """A stream of `model` that has all of it, and no more to come."""
        stream = model.create_stream()
        stream.accept_waveform(RATE_HZ, np.concatenate([*self._heard, _TAIL]))
        stream.input_finished()
        return stream


class SherpaKeywords(_WholeSegment):
    """The owner's phrases. `unknown` are those that the model has no tokens for."""

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
    """Any word."""

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
    """Any phrase that the keyword model has tokens for. Raises ModelError for another."""

    name = "sherpa-onnx"
    score = threshold = 0.0  # it does not say by how much
    late_frames = RATE_HZ // 5  # its encoder sees 320 ms at a time; not measured

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
        heard = None
        while self._spotter.is_ready(self._stream):
            self._spotter.decode_stream(self._stream)
            if self._spotter.get_result(self._stream):
                self._spotter.reset_stream(self._stream)
                heard = 1.0  # it passed the threshold; the spotter does not say by how much
        return heard

    def reset(self) -> None:
        self._stream = self._spotter.create_stream()


def _spotter(
    files: dict[str, Path], listed: tuple[str, ...], threshold: float
) -> tuple[Any, dict[str, str], tuple[str, ...]]:
    """sherpa-onnx's spotter, what its names for the phrases mean, and the phrases left out."""
    tokens = read_tokens(files["tokens"])
    spelt = {phrase: pieces(phrase, tokens) for phrase in listed}
    unknown = tuple(phrase for phrase, parts in spelt.items() if parts is None)
    names = {phrase.replace(" ", "_"): phrase for phrase in listed if phrase not in unknown}
    lines = [f"{' '.join(spelt[p] or [])} @{name}\n" for name, p in names.items()]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as keywords:
        keywords.write("".join(lines))
        keywords.flush()
        spotter = sherpa_onnx.KeywordSpotter(
            **{role: str(files[role]) for role in ("tokens", "encoder", "decoder", "joiner")},
            keywords_file=keywords.name,
            keywords_score=_BOOST,
            keywords_threshold=threshold,
            num_threads=1,
        )
    return spotter, names, unknown


def read_tokens(path: Path) -> dict[str, int]:
    """tokens.txt: a token and its number a line. Raises ModelError if it is something else."""
    try:
        pairs = [line.rsplit(maxsplit=1) for line in path.read_text("utf-8").splitlines()]
        return {token: int(number) for token, number in pairs}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: is no list of tokens ({error}).",
                         "Fetch the model again.") from error  # fmt: skip
