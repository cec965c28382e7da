"""Cuts an utterance into slots for the ring `heard`, and into pieces if it is long."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.messages.hearing import SpeechEnded
from appliance.pcm import SampleBuffer, Samples
from appliance.runtime.ipc.ring import END, PAUSE, QUIET, START

CHUNK_FRAMES = 320  # samples per slot of the ring `heard`
SILENCE_FRAMES = 32_000  # what is left of a longer silence, so that the model hears a pause
_CUT_FRAMES = 48_000  # a piece may end at a pause in its last 3 s, so that no word is split


@dataclass(frozen=True, slots=True)
class SpeechSlot:
    """One slot for the ring `heard`: int16 samples at `position` of the utterance."""

    utterance: int
    position: int
    index: int
    flags: int
    samples: Samples


class UtteranceStream:
    """Outputs each sample of one utterance exactly once, in pieces if it is long."""

    def __init__(self, number: int, first: int, piece_frames: int) -> None:
        """Utterance `number` begins with sample `first` of the buffer."""
        self.number = number
        self._first = first
        self._position = 0
        self._piece_frames = piece_frames
        self._piece_from = 0
        self._paused_at = -1

    def pop_ready(
        self, buffer: SampleBuffer, until: int, card_index: int, quiet: bool
    ) -> list[SpeechSlot | SpeechEnded]:
        """The complete slots now that the buffer holds all samples before `until`.

        `card_index` is the card's index of the buffer's sample 0; `quiet`: there is a pause now.
        """
        out: list[SpeechSlot | SpeechEnded] = []
        while self._first + self._position < until:
            in_piece = self._position - self._piece_from
            left = self._piece_frames - in_piece
            frames = min(CHUNK_FRAMES, left)
            if self._first + self._position + frames > until:
                break
            out.append(self._chunk(buffer, frames, card_index, QUIET if quiet else 0))
            if left <= frames or (quiet and left - frames < _CUT_FRAMES < self._piece_frames):
                self._piece_from = self._position
                index = card_index + self._first + self._position
                out.append(SpeechEnded(self.number, index, self._position, last=False))
        return out

    def shorten_silence(self, now: int, silent_frames: int) -> None:
        """Drop all but the newest 2 s of a silence that is not yet output: the owner may pause for
        minutes with the talk button held, which is no part of the question."""
        if silent_frames > SILENCE_FRAMES:
            self._first = max(self._first, now - SILENCE_FRAMES - self._position)

    def newest(self, buffer: SampleBuffer, now: int, frames: int) -> Samples:
        """At most the newest `frames` samples of the utterance up to `now`."""
        first = max(self._first, now - frames)
        return buffer.read(first, now - first)

    def flush_pause(self, buffer: SampleBuffer, until: int, card_index: int) -> list[SpeechSlot]:
        """The remaining samples before `until`, once per pause: they may be the last words.

        The thinker can start the prefill; the utterance continues if the owner does.
        """
        if self._paused_at == until:
            return []
        self._paused_at = until
        return [self._chunk(buffer, until - self._first - self._position, card_index, PAUSE)]

    def finish(
        self, buffer: SampleBuffer, until: int, card_index: int, spoken_until: int
    ) -> list[SpeechSlot | SpeechEnded]:
        """The rest of the samples before `until`, and the end; speech ended at `spoken_until`."""
        out = self.pop_ready(buffer, until, card_index, quiet=False)
        rest = max(0, until - self._first - self._position)
        out.append(self._chunk(buffer, rest, card_index, END))
        out.append(SpeechEnded(self.number, card_index + spoken_until, self._position, last=True))
        return out

    def _chunk(
        self, buffer: SampleBuffer, frames: int, card_index: int, flags: int = 0
    ) -> SpeechSlot:
        at = self._first + self._position
        flags |= START if self._position == 0 else 0
        chunk = SpeechSlot(
            self.number, self._position, card_index + at, flags, buffer.read(at, frames)
        )
        self._position += frames
        return chunk
