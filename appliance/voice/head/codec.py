"""Decoder of a neural codec: codes of 80 ms frames in, samples out, any number of frames per call.

The state is explicit, and no call changes one, so a caller can continue from an old state. The
decoder is causal: frames decoded one at a time, some at a time or all at once give the same
samples, except for rounding. One class serves all codecs; they differ in the graph (manifest.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.onnx_session import first_line, open_session
from appliance.voice.head.manifest import REMEDY, SUFFIX, CodecManifest, read_manifest

Codes = npt.NDArray[np.integer]  # [frames, codebooks], or [codebooks] for one frame
Sound = npt.NDArray[np.float32]  # [samples] at the codec's rate, full scale at ±1.0

_Nodes = dict[str, tuple[str, list[int | None]]]  # name: type and shape
_FRAMES = ("codes", "samples")  # names of the graph's input and output


@dataclass(frozen=True)
class CodecState:
    """The decoder's state between two frames. `due`: samples of the delay not yet skipped."""

    tensors: Mapping[str, npt.NDArray[Any]]
    due: int


class Codec:
    """The decoder whose manifest is the file `path`.

    Raises ModelError for missing or damaged files, and for a graph whose inputs or outputs differ
    from the manifest's.
    """

    def __init__(self, path: Path, threads: int = 1) -> None:
        self._path = path
        self.manifest = read_manifest(path)
        graph = path.with_name(self.manifest.graph)
        if not graph.is_file():
            raise ModelError(f"{graph}: the codec's graph is missing.", REMEDY)
        self._session = open_session(graph, "the codec's graph", threads)
        _check(path, self.manifest, self._session)
        self._outputs = [_FRAMES[1], *(s.name + SUFFIX for s in self.manifest.states)]

    @property
    def rate_hz(self) -> int:
        return self.manifest.rate_hz

    @property
    def frame_samples(self) -> int:
        return self.manifest.frame_samples

    def start(self) -> CodecState:
        """The state before the first frame."""
        zeros = {s.name: np.zeros(s.shape, s.type) for s in self.manifest.states}
        return CodecState(zeros, self.manifest.delay_samples)

    def decode(self, codes: Codes, state: CodecState) -> tuple[Sound, CodecState]:
        """The frames' samples, and the state after them.

        The samples of a codec's delay are skipped at the beginning, and `finish` returns as many at
        the end: sample i always belongs to frame i // frame_samples. Raises ModelError for codes
        out of range, and if the graph returns values that are not finite.
        """
        frames = self._checked(codes)
        feed = {_FRAMES[0]: frames, **state.tensors}
        try:
            samples, *after = self._session.run(self._outputs, feed)
        except Exception as error:  # onnxruntime's exceptions have no common base of their own
            problem = f"{self._path}: the codec cannot decode ({first_line(error)})."
            raise ModelError(problem, REMEDY) from error
        if samples.shape != (len(frames) * self.frame_samples,) or not np.isfinite(samples).all():
            raise ModelError(f"{self._path}: the codec's output is not sound.", REMEDY)
        names = (s.name for s in self.manifest.states)
        held = min(state.due, len(samples))
        return samples[held:], CodecState(dict(zip(names, after, strict=True)), state.due - held)

    def finish(self, state: CodecState) -> Sound:
        """The samples that the delay has held back: as many as the delay has, if a frame was
        decoded. Raises ModelError."""
        delay = self.manifest.delay_samples
        missing = delay - state.due
        closing = np.array([self.manifest.closing_codes] * -(-delay // self.frame_samples))
        if not missing:
            return np.zeros(0, np.float32)
        samples, _ = self.decode(closing, state)
        return samples[:missing]

    def _checked(self, codes: Codes) -> npt.NDArray[np.int64]:
        frames = np.atleast_2d(codes)
        if frames.ndim != 2 or frames.shape[1] != self.manifest.codebooks or not len(frames):
            problem = f"A frame of {self._path} has {self.manifest.codebooks} codes"
            raise ModelError(f"{problem}, not an array of the shape {np.shape(codes)}.")
        if frames.min() < 0 or frames.max() >= self.manifest.codes:
            raise ModelError(f"A code of {self._path} is 0 to {self.manifest.codes - 1}.")
        return frames.astype(np.int64)


def _check(path: Path, manifest: CodecManifest, session: Any) -> None:
    """Raise ModelError unless the graph has the inputs and outputs of the manifest."""
    states: _Nodes = {s.name: (_TYPES[s.type], list(s.shape)) for s in manifest.states}
    inputs: _Nodes = {"codes": (_TYPES["int64"], [None, manifest.codebooks]), **states}
    outputs: _Nodes = {"samples": (_TYPES["float32"], [None])}
    outputs |= {name + SUFFIX: spec for name, spec in states.items()}
    for kind, wanted, nodes in (
        ("inputs", inputs, session.get_inputs()),
        ("outputs", outputs, session.get_outputs()),
    ):
        found = {node.name: (node.type, [*map(_length, node.shape)]) for node in nodes}
        if found != wanted:
            wrong = sorted(n for n in found.keys() | wanted if found.get(n) != wanted.get(n))
            problem = f"{path}: its graph has other {kind} ({', '.join(wrong)})."
            raise ModelError(problem, REMEDY)


_TYPES = {"float32": "tensor(float)", "float64": "tensor(double)", "int64": "tensor(int64)"}


def _length(length: int | str | None) -> int | None:
    """Length of an axis; None if it varies."""
    return length if isinstance(length, int) else None
