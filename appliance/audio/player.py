"""Decides the next block for the loudspeaker. In: the floor's words and voice slots. Out: blocks.

Pure: no card, no ring, no clock. Every sample of an answer is sent in order and exactly once,
whatever pauses come between, but for a last word that is said again after a long one; what changed
is said with the exact sample at which it did.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from appliance.audio.fader import QUIET, Fader
from appliance.audio.word_boundary import LOOK_BACK, last_word
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.pcm import RATE_HZ, SampleBuffer, Samples
from appliance.runtime.ipc.ring import END, WORD, RingSlot

PlaybackEvent = (
    PlaybackStarted | PlaybackPaused | PlaybackResumed | PlaybackFinished | PlaybackStopped
)

_WORDS = 16  # of an answer, the last: more than LOOK_BACK holds
_LEAD = RATE_HZ * 20 // 1000  # before a word, to fade in
_STALE_AT_ONCE = 64  # slots dropped for one block: a full ring takes two blocks, not 2 ms of one


@dataclass(frozen=True)
class FadeProfile:
    """How the voice falls silent and comes back.

    down_frames   of the fade to silence, or to softly; short, since the owner waits for it
    up_frames     of the fade back
    rewind_after  samples of pause from which on the last word is said again; 0: never
    duck          gain while an onset is judged, in place of silence; 0: silence
    """

    down_frames: int
    up_frames: int
    rewind_after: int = 0
    duck: float = 0.0


@dataclass(frozen=True, slots=True)
class PlaybackBlock:
    """One block for the card; `samples` is valid until the next one is asked for.

    Voice, if there is any (`turn` is not 0), begins at the block's first sample, with sample
    `position` of the answer; what follows it is silence.
    """

    samples: Samples
    index: int
    position: int
    turn: int
    events: tuple[PlaybackEvent, ...]


class Player:
    """`supply` gives the next voice slot, or None: it is asked only for what is due.

    Silence within an answer (a pause, a late speaker) moves nothing: the sample that was due
    stays due. Slots of older turns are dropped whole; slots of a turn to come wait.
    """

    def __init__(
        self,
        supply: Callable[[], RingSlot | None],
        manner: FadeProfile,
        *,
        block_frames: int,
        volume: float,
    ) -> None:
        self._supply = supply
        self._manner = manner
        self.block_frames = block_frames
        self._fader = Fader(
            block_frames,
            down_frames=manner.down_frames,
            up_frames=manner.up_frames,
            volume=volume,
        )
        self._voice = np.zeros(block_frames, np.int16)
        self._past = SampleBuffer(LOOK_BACK)  # what was taken of the answer, by position
        self._past_from = 0  # position of the first sample of it that this player took
        self._words: deque[int] = deque(maxlen=_WORDS)  # positions at which words of it began
        self._again: Samples = np.empty(0, np.int16)  # what is sent once more before anything new
        self._slot: RingSlot | None = None
        self._at = 0  # samples already taken of `_slot`
        self._answer = 0  # the turn whose answer is under way; 0: none
        self._position = 0  # in the answer, of the sample that is due
        self._started = False  # its first sample has been sent, and said so
        self._ended = False  # its last sample has been taken
        self._silent_at = 0  # index behind the last voice sample that was sent
        self._flowing = False  # the block before this one was voice to its end
        self._paused_for: int | None = None  # serial of the onset, 0 for a press; None: not paused

    def set_volume(self, volume: float) -> None:
        """0 to 1, reached by the end of the next block."""
        self._fader.set_volume(volume)

    def on_dropout(self) -> None:
        """The card lost its place (a dropout, a replug): fade in, as after a pause."""
        self._flowing = False
        if self._answer:
            self._fader.mute_now()

    def next_block(
        self, turn: int, hold: int, released: int, index: int, *, pressed: bool = False
    ) -> PlaybackBlock:
        """The next block, whose first sample leaves the loudspeaker at `index`."""
        held = hold != released
        softly = held and self._manner.duck > 0 and not pressed
        silent = (held and not softly) or pressed
        if not self._answer:
            self._start_answer(turn, held=held or pressed, index=index)
        answer = self._answer
        sounds = answer != 0 and turn == answer and not silent
        if sounds and self._paused_for is not None:
            self._go_back(index)
        position = self._position
        events: list[PlaybackEvent] = []
        if not answer:
            samples, voice = self._fader.silence(), 0
        elif sounds:
            level = self._manner.duck if softly else 1.0
            samples, voice = self._sound(level, released, index, events)
        else:
            samples, voice = self._fall_silent()
        self._flowing = voice == len(samples)
        if voice:
            self._silent_at = index + voice
        if answer:
            cause = (hold if held else 0) if silent else None
            self._conclude(cut=turn != answer, cause=cause, events=events)
        return PlaybackBlock(samples, index, position, answer if voice else 0, tuple(events))

    def _start_answer(self, turn: int, *, held: bool, index: int) -> None:
        for _ in range(_STALE_AT_ONCE):
            slot = self._due()
            if slot is None or slot.stream >= turn:
                break
            self._slot = None
        slot = self._slot
        if slot is None or slot.stream != turn or held:
            return
        self._answer, self._position, self._past_from = turn, slot.position, slot.position
        self._ended, self._flowing, self._started, self._paused_for = False, False, False, None
        self._again = self._again[:0]
        self._words.clear()
        self._silent_at = index
        self._fader.open_now()

    def _sound(
        self, level: float, released: int, index: int, events: list[PlaybackEvent]
    ) -> tuple[Samples, int]:
        position = self._position
        taken = self._move_samples(len(self._voice))
        if taken and not self._flowing and position and abs(int(self._voice[0])) > QUIET:
            self._fader.mute_now()  # it goes on from the middle of a sound: fade in
        if taken and not self._started:
            self._started = True
            events.append(PlaybackStarted(self._answer, index))
        elif taken and self._paused_for is not None:
            events.append(PlaybackResumed(self._answer, released, position, index))
        if taken:
            self._paused_for = None
        return self._fader.ramp_to(self._voice[:taken], level), taken

    def _go_back(self, index: int) -> None:
        """After a long pause: to the start of the word that was broken off."""
        after, pause = self._manner.rewind_after, index - self._silent_at
        if not after or pause < after or self._due() is None:
            return
        kept = min(LOOK_BACK - len(self._again), self._position - self._past_from)
        back = self._last_word(kept)
        self._position -= back
        self._again = self._past.read(self._position, back + len(self._again))

    def _last_word(self, kept: int) -> int:
        """How far back of the `kept` samples the last word began: as its voice told, unless that is
        further back, or it was over; else by the sound."""
        back = last_word(self._past.read(self._position - kept, kept))
        begun = [at for at in self._words if self._position - kept <= at < self._position]
        return min(kept, self._position - begun[-1] + _LEAD) if back and begun else back

    def _fall_silent(self) -> tuple[Samples, int]:
        """Fade out over what is due next; those samples count as heard."""
        if not self._flowing:
            self._fader.mute_now()
        taken = self._move_samples(min(self._fader.fade_out_samples, len(self._voice)))
        return self._fader.fade_out(self._voice[:taken]), taken

    def _conclude(self, *, cut: bool, cause: int | None, events: list[PlaybackEvent]) -> None:
        """`cause` of a pause: the serial of an onset, 0 for a press; None: nothing pauses it."""
        turn, position, silent_at = self._answer, self._position, self._silent_at
        if self._ended:
            events.append(PlaybackFinished(turn, position, silent_at - 1))
            self._answer = 0
        elif cut and self._fader.is_muted:
            events.append(PlaybackStopped(turn, position, silent_at))
            self._answer = 0
        elif cause is not None and self._fader.is_muted and self._paused_for != cause:
            events.append(PlaybackPaused(turn, cause, position, silent_at))
            self._paused_for = cause

    def _due(self) -> RingSlot | None:
        """The slot that holds the sample that is due, if it has come."""
        if self._slot is None:
            self._slot, self._at = self._supply(), 0
        return self._slot

    def _move_samples(self, count: int) -> int:
        """Move up to `count` samples of the answer to `_voice`. Returns how many there were."""
        taken = min(count, len(self._again))
        if taken:
            self._voice[:taken] = self._again[:taken]
            self._again = self._again[taken:]
            self._position += taken
        while taken < count and not self._ended:
            slot = self._due()
            if slot is None or slot.stream != self._answer:
                break
            n = min(count - taken, len(slot.samples) - self._at)
            if slot.flags & WORD and not self._at:
                self._words.append(slot.position)
            new = slot.samples[self._at : self._at + n]
            self._voice[taken : taken + n] = new
            self._past.write(slot.position + self._at, new)
            taken += n
            self._at += n
            self._position = slot.position + self._at
            if self._at == len(slot.samples):
                self._slot = None
                self._ended = bool(slot.flags & END)
        return taken
