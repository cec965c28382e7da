"""The microphone test: records 3 s of unprocessed sound, measures it, and has it played back.

In: blocks, requests of the conductor. Out: messages, and slots for the ring `tried`, which the
speaker reads. The recording is in memory only, and is overwritten with silence once it was played.
Speech during the recording is not taken as addressed to the box (`ignores_speech`).
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
_IGNORED_AFTER_FRAMES = RATE_HZ * 7 // 10  # so that the rest of a cut word is no question
_LONGEST_IN_RING_FRAMES = 20 * RATE_HZ  # playback must be over long before
_SILENT_DB = -90.0  # a recording whose peak is lower is not played
_AT_ONCE = 8  # slots per block of 5 ms, so that copying 3 s does not delay the audio path
_SPEC = ring(TRIED)
_SILENCE = np.zeros(_SPEC.frames, np.int16)

TrialMessage = SoundRecording | SoundRecorded | TrialRefused
TriedSlot = tuple[int, Samples]  # the trial's number, or 0 for overwriting silence, and samples


class TrialRecorder:
    """Records one trial at a time; time is the number of samples given."""

    def __init__(self) -> None:
        self._number = 0
        self._frames_left = 0  # samples still to record
        self._ignored_frames_left = 0
        self._blocks: list[Samples] = []
        self._slots: deque[TriedSlot] = deque()
        self._result: SoundRecorded | None = None  # sent once all slots are written
        self._in_ring_frames = 0  # samples since the ring got the recording
        self._in_ring = True  # the ring may still hold a recording of a crashed listener
        self.forget()

    @property
    def recording(self) -> bool:
        return self._frames_left > 0

    @property
    def ignores_speech(self) -> bool:
        """Whether the microphone's sound goes only to the test."""
        return self.recording or self._ignored_frames_left > 0

    def start(self, request: StartTrial, *, busy: bool, mic_off: bool) -> TrialMessage:
        """Record from the next block on, unless speech is in progress or the microphone is off."""
        if mic_off:
            return TrialRefused(request.number, "muted")
        if busy or self.recording or self._slots:
            return TrialRefused(request.number, "busy")
        self._number, self._frames_left = request.number, round(SECONDS * RATE_HZ)
        self._blocks.clear()
        return SoundRecording(request.number, on=True)

    def process(self, mic: Samples, *, mic_off: bool) -> list[TrialMessage]:
        """Process one block of the microphone, unprocessed; returns the messages to send."""
        if not self.recording:
            self._ignored_frames_left = max(0, self._ignored_frames_left - len(mic))
            self._in_ring_frames += len(mic)
            if self._in_ring_frames > _LONGEST_IN_RING_FRAMES:
                self.forget()
            if self._result is not None and not self._slots:
                result, self._result = self._result, None
                return [result]
            return []
        if mic_off:
            return [*self.cancel(), TrialRefused(self._number, "muted")]
        self._blocks.append(mic[: self._frames_left].copy())
        self._frames_left -= len(self._blocks[-1])
        return self._finish() if self._frames_left == 0 else []

    def cancel(self) -> list[TrialMessage]:
        """Stop the trial and discard its recording."""
        was_recording, self._frames_left = self.recording, 0
        self._blocks.clear()
        self._result = None
        self.forget()
        return [SoundRecording(self._number, on=False)] if was_recording else []

    def forget(self) -> None:
        """Overwrite the recording in the ring with silence."""
        if self._in_ring:
            self._slots = deque([(0, _SILENCE)] * _SPEC.slots)
            self._in_ring = False

    def pop_slots(self) -> Iterator[TriedSlot]:
        """The slots to write in this block."""
        for _ in range(min(_AT_ONCE, len(self._slots))):
            yield self._slots.popleft()

    def _finish(self) -> list[TrialMessage]:
        self._ignored_frames_left = _IGNORED_AFTER_FRAMES
        samples = np.concatenate(self._blocks)
        self._blocks.clear()
        measured = measure(samples)
        gain_db = play_gain_db(measured)
        played = measured.peak_db > _SILENT_DB
        if played:
            sound, size = made_audible(samples, gain_db), _SPEC.frames
            pieces = [sound[at : at + size] for at in range(0, len(sound), size)]
            self._slots.extend((self._number, piece) for piece in pieces)
            self._in_ring, self._in_ring_frames = True, 0
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
