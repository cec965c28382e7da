"""Buffers utterances from the ring `heard` until a Think message asks for their answer.

In: slots. Out: clips of at most 28 s. Of a long monologue the last 150 s are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.ipc.ring import END, START, RingSlot
from appliance.think.history import SpeechClip

CLIP_FRAMES = 28 * RATE_HZ  # the encoder takes at most 30 s at once, and would cut anywhere
CUT_SLOTS = 200  # 4 s: a long utterance is cut at the quietest of its last slots
KEEP_FRAMES = 150 * RATE_HZ  # 3,750 tokens: what an 8k context holds beside persona and answer
UNNAMED_S = 180.0  # an utterance that no Think names for so long was not meant for the box


@dataclass
class _Utterance:
    updated_s: float
    clips: list[SpeechClip] = field(default_factory=list)
    open: list[Samples] = field(default_factory=list)
    open_frames: int = 0  # counted, not summed: there are up to 1,400 open slots, 50 more a second
    dropped_frames: int = 0

    @property
    def frames(self) -> int:
        return self.open_frames + sum(len(clip.samples) for clip in self.clips)

    def add(self, samples: Samples) -> None:
        self.open.append(samples)
        self.open_frames += len(samples)

    def close(self, number: int, slots: int | None = None) -> SpeechClip | None:
        """Make a clip of the open slots, or of the first `slots` of them."""
        if not self.open_frames:
            return None
        clip = SpeechClip(number, np.concatenate(self.open[:slots]))
        self.open = [] if slots is None else self.open[slots:]
        self.open_frames -= len(clip.samples)
        self.clips.append(clip)
        return clip

    def quietest(self) -> int:
        """Return after how many open slots to cut, so that the cut is not within a word."""
        recent = self.open[-CUT_SLOTS:]
        energy = [float(np.square(s, dtype=np.float64).mean()) for s in recent]
        smooth = np.convolve(energy, np.ones(5), "same")  # 100 ms
        return len(self.open) - len(recent) + int(np.argmin(smooth[:-1])) + 1


@dataclass(frozen=True)
class QuestionAudio:
    """The clips of a question in order, the missing utterances, and the seconds dropped from the
    start of long ones."""

    clips: tuple[SpeechClip, ...]
    missing: tuple[int, ...]
    dropped_s: float


class UtteranceBuffer:
    """Collects slots by utterance; limited in memory and in time."""

    def __init__(self, keep_frames: int = KEEP_FRAMES, clip_frames: int = CLIP_FRAMES) -> None:
        self._keep_frames = keep_frames
        self._clip_frames = clip_frames
        self._utterances: dict[int, _Utterance] = {}  # oldest first

    def push(self, slot: RingSlot, now_s: float) -> SpeechClip | None:
        """Add a slot. Return the clip that it completes, which can then be encoded."""
        number = slot.stream
        if number not in self._utterances:
            if not len(slot.samples):
                return None
            self._utterances[number] = _Utterance(now_s)
        utterance = self._utterances[number]
        utterance.updated_s = now_s
        done = utterance.close(number) if slot.flags & START else None
        if len(slot.samples):
            utterance.add(slot.samples)
        if slot.flags & END:
            done = utterance.close(number) or done
        elif utterance.open_frames >= self._clip_frames:
            done = utterance.close(number, utterance.quietest()) or done
        self._forget(now_s)
        return done

    def so_far(self, number: int) -> tuple[SpeechClip, ...]:
        """Return the clips of an utterance so far; the last one may grow."""
        utterance = self._utterances.get(number)
        if utterance is None:
            return ()
        newest = (
            (SpeechClip(number, np.concatenate(utterance.open)),) if utterance.open_frames else ()
        )
        return (*utterance.clips, *newest)

    def pop(self, numbers: Iterable[int]) -> QuestionAudio:
        """Remove these utterances from the buffer and return their clips."""
        clips: list[SpeechClip] = []
        missing: list[int] = []
        dropped = 0
        for number in numbers:
            utterance = self._utterances.pop(number, None)
            if utterance is None:
                missing.append(number)
                continue
            utterance.close(number)
            clips += utterance.clips
            dropped += utterance.dropped_frames
        return QuestionAudio(tuple(clips), tuple(missing), dropped / RATE_HZ)

    @property
    def frames(self) -> int:
        """Number of samples in the buffer."""
        return sum(utterance.frames for utterance in self._utterances.values())

    def _forget(self, now_s: float) -> None:
        stale = [n for n, u in self._utterances.items() if now_s - u.updated_s > UNNAMED_S]
        for number in stale:
            del self._utterances[number]
        excess = self.frames - self._keep_frames
        for utterance in self._utterances.values():
            while excess > 0 and utterance.clips:
                dropped = len(utterance.clips.pop(0).samples)
                utterance.dropped_frames += dropped
                excess -= dropped
