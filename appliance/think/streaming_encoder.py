"""The streaming audio encoder on ONNX Runtime: encodes a clip while the owner speaks it.

In: a clip so far, and the earlier result for its prefix. Out: its soft tokens; sound that was
encoded before is not computed again. Results are immutable: an interrupted call changes none.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from appliance.errors import ModelError
from appliance.models.encoder_graph.spectrum import TOKEN_FRAMES, TOKEN_SAMPLES, frame_count
from appliance.onnx_session import first_line, open_session
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.encoded_sound import EncodedSound, State

Rows = npt.NDArray[np.float32]

# Tokens per call: 2 s of sound. Memory and attention grow with it; each call counts as progress.
CALL_TOKENS = 50
# Up to this number, the last tokens are computed in one call with the end of the clip, because a
# call of the full-size graph takes at least some 30 ms. They are not final: if more sound comes,
# they are computed again.
END_TOKENS = 12


class StreamingEncoder:
    """One loaded graph. All methods but `interrupt` and `resume` must be called from one thread.

    `width`: number of values in a soft token. `steps` rises with every call of the graph.
    """

    def __init__(self, graph: Path, threads: int) -> None:
        """Raises ModelError for a file that ONNX Runtime cannot use."""
        self._session = open_session(graph, "the streaming audio encoder", threads)
        self._results = [output.name for output in self._session.get_outputs()]
        self.width = int(self._session.get_outputs()[0].shape[1])
        self._initial_state: State = {
            tensor.name: np.zeros(tensor.shape, np.int64 if "int64" in tensor.type else np.float32)
            for tensor in self._session.get_inputs()
            if f"{tensor.name}_next" in self._results
        }
        self.steps = 0
        self._lock = threading.Lock()  # guards the two fields below
        self._running: Any = None  # RunOptions of the running call
        self._interrupted = False

    def encode(
        self, samples: npt.NDArray[Any], prefix: EncodedSound | None = None, *, whole: bool = True
    ) -> EncodedSound:
        """Encode the clip; see SoundEncoder. A token is final once all of its samples are there.
        The sound after the last such token gives one more token if it fills a frame."""
        state, done = self._initial_state, 0
        rows = [np.empty((0, self.width), np.float32)]
        if prefix is not None and prefix.state:
            state, done = prefix.state, prefix.final
            rows = [prefix.rows[:done]]
        count = len(samples) // TOKEN_SAMPLES
        in_tail = count - done if whole and count - done <= END_TOKENS else 0
        while done < count - in_tail:
            length = min(CALL_TOKENS, count - done)
            sound = _floats(samples[done * TOKEN_SAMPLES : (done + length) * TOKEN_SAMPLES])
            tokens, state = self._run(sound, length * TOKEN_FRAMES, state)
            rows.append(tokens)
            done += length
        if whole:
            rows.append(self._tail(samples, done, state))
        return EncodedSound(np.concatenate(rows), done, whole, state)

    def _tail(self, samples: npt.NDArray[Any], done: int, state: State) -> Rows:
        """Encode the end of a clip, perhaps to no token; the last one may have fewer frames."""
        # A clip shorter than a token is padded with silence to the length of one.
        whole_tokens = len(samples) // TOKEN_SAMPLES
        frames = max(frame_count(max(len(samples), TOKEN_SAMPLES)), whole_tokens * TOKEN_FRAMES)
        frames -= done * TOKEN_FRAMES
        rest = samples[done * TOKEN_SAMPLES :]
        if frames <= 0 or not len(rest):
            return np.empty((0, self.width), np.float32)
        length = -(-frames // TOKEN_FRAMES) * TOKEN_SAMPLES
        sound = _floats(rest[:length])
        return self._run(np.pad(sound, (0, length - len(sound))), frames, state)[0]

    def _run(self, sound: Rows, frames: int, state: State) -> tuple[Rows, State]:
        options = onnxruntime.RunOptions()
        with self._lock:
            if self._interrupted:
                raise AnswerAbandoned
            self._running = options
        inputs = {"sound": sound, "frames": np.array([frames], np.int64), **state}
        try:
            outputs = self._session.run(None, inputs, options)
        except Exception as error:  # ONNX Runtime has no exception type for a terminated call
            if options.terminate:
                raise AnswerAbandoned from error
            raise ModelError(f"The sound cannot be encoded ({first_line(error)}).") from error
        finally:
            with self._lock:
                self._running = None
        self.steps += 1
        results = dict(zip(self._results, outputs, strict=True))
        return results["tokens"], {name: results[f"{name}_next"] for name in state}

    def interrupt(self) -> None:
        """Make `encode` raise AnswerAbandoned until `resume`; a running call ends before its next
        operator. May be called from any thread."""
        with self._lock:
            self._interrupted = True
            if self._running is not None:
                self._running.terminate = True

    def resume(self) -> None:
        with self._lock:
            self._interrupted = False


def _floats(samples: npt.NDArray[Any]) -> Rows:
    """Convert samples to float32 in -1 to 1. Raises ModelError if they are not finite."""
    sound = samples.astype(np.float32)
    if samples.dtype == np.int16:
        sound /= 32768.0
    elif not np.isfinite(sound).all():
        raise ModelError("The sound holds values that are no numbers.")
    return sound
