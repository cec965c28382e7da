"""Synthesises text in stretches of sound, each with the words that begin in it. Cancellable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from appliance.errors import ModelError
from appliance.onnx_session import open_session, stoppable_run
from appliance.voice.hibari.reader import ASSETS, Reader, ReadWord
from appliance.voice.hibari.vocoder import HOP, RATE_HZ, Floats, Spectrum, waveform

__all__ = ["LOUDNESS_DBFS", "RATE_HZ", "Cancellation", "Stretch", "Synthesiser"]

LOUDNESS_DBFS = -25.5
# The network's inner output with the length of each phoneme, rounded to 25 ms (two frames).
_DURATIONS = "/Clip_output_0"
# A word sounds earlier than these lengths say: by 34 to 72 ms for words after a pause
# (tests/voice/hibari/test_synthesiser.py), by 79 ms in the median over 141 words of fluent speech
# as pocketsphinx aligns them; it ends 41 ms earlier.
_EARLY_SAMPLES = RATE_HZ * 60 // 1000
_OVER_SAMPLES = RATE_HZ * 45 // 1000
_OUTPUTS = ("lh", "theta", "ln", "lr", "phi", "f0", _DURATIONS)
_MARKS = ' ,;:—.!?…"“”()'  # punctuation after a word: its length is that of the pause
_EDGE = 0  # id of the silence at both ends


class Cancellation:
    """Cancels one sentence: set by one thread, checked by the thread that synthesises."""

    def __init__(self) -> None:
        self.options = stoppable_run()
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        self.options.terminate = True


class Stretch(NamedTuple):
    """Some sound, full scale at ±1.0, at RATE_HZ. `words`: for each word its characters of the
    text, and the samples of this stretch at which it begins and ends; `begin` to `end`: the
    characters of all of them."""

    sound: Floats
    begin: int
    end: int
    words: list[tuple[int, int, int, int]]


class Synthesiser:
    """The loaded voice. `speed`: 1.0 is its own pace, 2.0 twice as fast."""

    def __init__(self, speed: float = 1.0, reader: Reader | None = None) -> None:
        """`reader`: one that is loaded, which takes half a second. Raises ModelError."""
        self._speed = np.array([speed], np.float32)
        self._reader = reader or Reader()
        self._ids: dict[str, int] = json.loads((ASSETS / "vocab.json").read_text(encoding="utf-8"))
        self._network = open_session(ASSETS / "hibari.onnx", "the voice", also=[_DURATIONS])
        if {each.name for each in self._network.get_outputs()} != set(_OUTPUTS):
            raise ModelError("hibari.onnx: is not the network for which the voice was made.")
        self._noise = np.random.default_rng(0)

    def synthesise(self, text: str, cancellation: Cancellation) -> Iterator[Stretch]:
        """The sound of `text`; a cancellation ends it early.

        Raises UnsayableText, and the library's own error if a run of the network is cancelled.
        """
        for words in list(self._reader.read(text)):
            if cancellation.cancelled:
                return
            yield from self._say(words, cancellation)

    def _say(self, words: list[ReadWord], cancellation: Cancellation) -> Iterator[Stretch]:
        ids = [_EDGE]
        places: list[tuple[int, int]] = []
        for word in words:
            if places:
                ids.append(self._ids[" "])
            begin = len(ids)
            ids += [self._ids[each] for each in word.phonemes if each in self._ids]
            marks = len(word.phonemes) - len(word.phonemes.rstrip(_MARKS))
            places.append((begin, len(ids) - marks))
        ids.append(_EDGE)
        outputs = self._network.run(
            _OUTPUTS,
            {"ids": np.array([ids], np.int64), "speed": self._speed},
            cancellation.options,
        )
        spectrum = Spectrum(*(each[0] for each in outputs[:-1]))
        begins = np.cumsum([0, *outputs[-1].tolist()]).astype(np.int64)
        due = begins * spectrum.frames * HOP // begins[-1]
        starts, ends = np.maximum(0, due - _EARLY_SAMPLES), np.maximum(1, due - _OVER_SAMPLES)
        waiting = [
            (word.begin, word.end, int(starts[first]), int(ends[last]))
            for word, (first, last) in zip(words, places, strict=True)
        ]
        position, place = 0, words[0].begin
        for sound in waveform(spectrum, self._noise):
            if cancellation.cancelled:
                return
            starting = [word for word in waiting if word[2] < position + len(sound)]
            waiting = waiting[len(starting) :]
            begin, place = (starting[0][0], starting[-1][1]) if starting else (place, place)
            marked = [(a, b, at - position, over - position) for a, b, at, over in starting]
            yield Stretch(sound, begin, place, marked)
            position += len(sound)
