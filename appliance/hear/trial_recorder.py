"""The microphone test: some seconds of the microphone as it is, measured, and played to its owner.

In: blocks, what the conductor asks for. Out: messages, and slots for the ring `tried`, which the
speaker reads. The recording lies in memory alone, and is overwritten with silence once it was
played. While it lasts, nothing of it counts as said to the box (`deaf`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from appliance.hear.sound_measures import made_audible, measure, play_gain_db
from appliance.messages.trying import (
    SoundRecorded,
    SoundRecording,
    StartTrial,
    TrialRefused,
)
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.process_table import TRIED, ring

SECONDS = 3.0
_DEAF_AFTER_FRAMES = RATE_HZ * 7 // 10  # the end of a word that was cut off is no question
_LONGEST_KEPT_FRAMES = 20 * RATE_HZ  # it was to be played long before
_SILENT_DB = -90.0  # no sample above that: there is nothing to play
_AT_ONCE = 8  # slots a block of 5 ms: nobody waits while 3 s are copied
_SPEC = ring(TRIED)
_SILENCE = np.zeros(_SPEC.frames, np.int16)

TrialMessage = SoundRecording | SoundRecorded | TrialRefused
TriedSlot = tuple[int, Samples]  # the trial's number, 0 for what overwrites, and its samples


class TrialRecorder:
    """Time is the number of samples given."""

    def __init__(self) -> None:
        self._number = 0
        self._left = 0  # samples still to come
        self._deaf_left = 0
        self._blocks: list[Samples] = []
        self._slots: deque[TriedSlot] = deque()
        self._result: SoundRecorded | None = None  # to be told once the slots are out
        self._kept_frames = 0  # since the ring holds a recording
        self._kept = True  # the ring may hold one, of a listener before this one
        self.forget()

    @property
    def recording(self) -> bool:
        return self._left > 0

    @property
    def deaf(self) -> bool:
        """What the microphone hears is for the test alone."""
        return self.recording or self._deaf_left > 0

    def start(self, wanted: StartTrial, *, busy: bool, mic_off: bool) -> TrialMessage:
        """Record from the next block on, unless somebody talks or the microphone is off."""
        if mic_off:
            return TrialRefused(wanted.number, "muted")
        if busy or self.recording or self._slots:
            return TrialRefused(wanted.number, "busy")
        self._number, self._left = wanted.number, round(SECONDS * RATE_HZ)
        self._blocks.clear()
        return SoundRecording(wanted.number, on=True)

    def process(self, mic: Samples, *, mic_off: bool) -> list[TrialMessage]:
        """One block of the microphone as it is."""
        if not self.recording:
            self._deaf_left = max(0, self._deaf_left - len(mic))
            self._kept_frames += len(mic)
            if self._kept_frames > _LONGEST_KEPT_FRAMES:
                self.forget()
            if self._result is not None and not self._slots:
                result, self._result = self._result, None
                return [result]
            return []
        if mic_off:
            return [*self.cancel(), TrialRefused(self._number, "muted")]
        self._blocks.append(mic[: self._left].copy())
        self._left -= len(self._blocks[-1])
        return self._finish() if self._left == 0 else []

    def cancel(self) -> list[TrialMessage]:
        """Nobody waits for it any more: nothing of it is kept."""
        was, self._left = self.recording, 0
        self._blocks.clear()
        self._result = None
        self.forget()
        return [SoundRecording(self._number, on=False)] if was else []

    def forget(self) -> None:
        """It was played, or never will be: overwrite it."""
        if self._kept:
            self._slots = deque([(0, _SILENCE)] * _SPEC.slots)
            self._kept = False

    def pop_slots(self) -> Iterator[TriedSlot]:
        """What is to be written now."""
        for _ in range(min(_AT_ONCE, len(self._slots))):
            yield self._slots.popleft()

    def _finish(self) -> list[TrialMessage]:
        self._deaf_left = _DEAF_AFTER_FRAMES
        samples = np.concatenate(self._blocks)
        self._blocks.clear()
        measured = measure(samples)
        gain_db = play_gain_db(measured)
        played = measured.peak_db > _SILENT_DB
        if played:
            sound, size = made_audible(samples, gain_db), _SPEC.frames
            pieces = [sound[at : at + size] for at in range(0, len(sound), size)]
            self._slots.extend((self._number, piece) for piece in pieces)
            self._kept, self._kept_frames = True, 0
        self._result = SoundRecorded(
            self._number,
            peak_db=round(measured.peak_db, 1),
            speech_db=round(measured.speech_db, 1),
            noise_db=round(measured.noise_db, 1),
            offset_db=round(measured.offset_db, 1),
            clipped=measured.clipped,
            gain_db=round(gain_db, 1),
            played=played,
        )
        return [SoundRecording(self._number, on=False)]
