"""Piper, a neural voice (VITS in ONNX): the only import of piper-tts.

piper-tts is GPL-3.0-or-later and an optional extra (`pip install interlude[piper]`): nothing else
imports it, and without it the box speaks with espeak-ng.
"""

from __future__ import annotations

import json
import os
import queue
import re
import textwrap
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from appliance.errors import VoiceError
from appliance.voice.shape import Floats, Shaper, gain_for, rms_dbfs
from appliance.voice.voice import NOTHING, Samples, Speech

if TYPE_CHECKING:
    from piper import PiperVoice

# A longer text is synthesised in parts: the first sound comes sooner, memory stays small (VITS
# needs about 1 MB a phoneme), and there are more places to stop.
PART_CHARACTERS = 160
_CLAUSE_END = re.compile(r"(?<=[,;:.!?])\s+")


class Piper:
    """One voice, loaded once. A thread of its own synthesises, so that nobody waits for it."""

    def __init__(self, name: str, model: Path) -> None:
        """Load `model` (its config beside it, `.json` appended).

        Raises VoiceError when piper-tts is not installed or the files are not a Piper voice.
        """
        self.name = name
        self._session = _load_session(model)
        self._voice = _load_voice(model, self._session)
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._jobs: queue.SimpleQueue[_PiperSpeech | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"piper {name}", daemon=True)
        self._thread.start()

    def say(self, text: str) -> Speech:
        speech = _PiperSpeech(text, self._bell)
        self._jobs.put(speech)
        return speech

    def close(self) -> None:
        self._jobs.put(None)
        self._session.stop()
        self._thread.join(timeout=1.0)

    def _work(self) -> None:
        while (speech := self._jobs.get()) is not None:
            try:
                for samples in self._synthesise(speech):
                    speech.deliver(samples)
                speech.deliver(None)
            except Exception as error:  # noqa: BLE001 - it and its C code raise anything: passed on
                problem = str(error).strip().split("\n")[0][:200] or type(error).__name__
                speech.deliver(VoiceError(f"The voice {self.name} failed: {problem}."))

    def _synthesise(self, speech: _PiperSpeech) -> Iterator[Samples]:
        shaper = Shaper(self._voice.config.sample_rate)
        for part in parts(speech.text):
            self._session.options = speech.run_options
            for chunk in self._voice.synthesize(part):
                sound: Floats = np.atleast_1d(chunk.audio_float_array)
                yield shaper.feed(sound, gain_for(rms_dbfs(sound, chunk.sample_rate)))
        yield shaper.feed(np.empty(0, np.float32), last=True)


def parts(text: str, limit: int = PART_CHARACTERS) -> Iterator[str]:
    """`text` in parts of at most `limit` characters, cut between clauses, else between words."""
    part = ""
    for clause in _CLAUSE_END.split(text):
        for piece in textwrap.wrap(clause, limit):
            if part and len(part) + 1 + len(piece) > limit:
                yield part
                part = piece
            else:
                part = f"{part} {piece}".strip()
    if part:
        yield part


class _PiperSpeech:
    """A sentence in the thread's hands; what it made waits here until it is read."""

    def __init__(self, text: str, bell: int) -> None:
        self.text = text
        self.run_options = onnxruntime.RunOptions()
        self._bell = bell
        self._made: deque[Samples | VoiceError | None] = deque()

    def deliver(self, made: Samples | VoiceError | None) -> None:
        """The thread's: a piece of sound, what went wrong, or None at the end."""
        self._made.append(made)
        os.eventfd_write(self._bell, 1)

    def fileno(self) -> int:
        return self._bell

    def read(self) -> Samples | None:
        try:
            os.eventfd_read(self._bell)
        except BlockingIOError:
            pass  # rung for an earlier piece
        if not self._made:
            return NOTHING
        made = self._made.popleft()
        if self._made:
            os.eventfd_write(self._bell, 1)  # more is there: ask to be read again
        if isinstance(made, VoiceError):
            raise made
        return made

    def cancel(self) -> None:
        self.run_options.terminate = True  # onnxruntime stops between two nodes of the graph


class _Session:
    """An onnxruntime session whose runs can be ended from another thread."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session
        self.options = onnxruntime.RunOptions()

    def run(self, outputs: Any, inputs: Any) -> Any:
        return self._session.run(outputs, inputs, self.options)

    def stop(self) -> None:
        self.options.terminate = True


def _load_session(model: Path) -> _Session:
    options = onnxruntime.SessionOptions()
    # One thread that sleeps when it waits: the listener lives on the same core.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors; warnings about unused weights are not the owner's
    try:
        session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime has a dozen unrelated types, none documented
        raise VoiceError(f"{model} is not a voice that can be loaded.", _fetch_again()) from error
    names = {node.name for node in session.get_inputs()}
    if not {"input", "input_lengths", "scales"} <= names:
        raise VoiceError(f"{model} is an ONNX model, but not a Piper voice.", _fetch_again())
    return _Session(session)


def _load_voice(model: Path, session: _Session) -> PiperVoice:
    try:
        from piper import PiperVoice  # optional, and slow to import: only for who has a voice
        from piper.config import PiperConfig
    except ImportError as error:
        raise VoiceError(
            "piper-tts is not installed.", "Install it with `pip install 'interlude[piper]'`."
        ) from error
    config = model.with_name(model.name + ".json")
    try:
        parsed = PiperConfig.from_dict(json.loads(config.read_text(encoding="utf-8")))
    except OSError as error:
        raise VoiceError(f"{config} cannot be read ({error.strerror}).", _fetch_again()) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VoiceError(f"{config} is not the config of a Piper voice.", _fetch_again()) from error
    return PiperVoice(session=session, config=parsed)


def _fetch_again() -> str:
    return "Fetch it again with `interlude models fetch NAME`."
