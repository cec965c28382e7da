"""Computes the next block for the loudspeaker. In: the floor's words, voice slots. Out: blocks.

Pure: no card, no ring, no clock. Every sample of an answer is sent in order and exactly once,
across any pauses; only the last word before a long pause is repeated, and the part that `rewind`
names. Each event names the exact sample at which it happened. A block that the card refused counts
as not sent: `take_back` undoes it together with its events, and it is computed again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import msgspec
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
from appliance.pcm import EMPTY, RATE_HZ, SampleBuffer, Samples
from appliance.runtime.ipc.ring import END, WORD, RingSlot

PlaybackEvent = (
    PlaybackStarted | PlaybackPaused | PlaybackResumed | PlaybackFinished | PlaybackStopped
)

_KEPT_FRAMES = 30 * RATE_HZ  # of an answer, for `rewind`: a sentence of 400 characters
_WORDS = 16  # of the answer, the newest: more than fit in LOOK_BACK
_LEAD = RATE_HZ * 20 // 1000  # sent before a repeated word or sentence, for the fade in
_MAX_STALE_SLOTS = 64  # dropped per block: a full ring takes two blocks, not 2 ms of one


@dataclass(frozen=True)
class FadeProfile:
    """Lengths of the fades, rewind and ducking.

    down_frames   length of the fade to silence or to `duck`; short, because the owner waits for it
    up_frames     length of the fade back
    rewind_after  pause in samples from which on the last word is repeated; 0: never
    duck          gain during an onset, in place of silence; 0: silence
    """

    down_frames: int
    up_frames: int
    rewind_after: int = 0
    duck: float = 0.0


@dataclass(frozen=True, slots=True)
class PlaybackBlock:
    """One block for the card; `samples` is valid until the next call of `next_block`.

    Voice, if there is any (`turn` is not 0), starts at the block's first sample, with sample
    `position` of the answer; silence follows it.
    """

    samples: Samples
    index: int
    position: int
    turn: int
    events: tuple[PlaybackEvent, ...]


class _PlayState(msgspec.Struct, gc=False):
    """State that `next_block` changes; a copy restores it when the card refuses the block."""

    slot: RingSlot | None = None
    slot_at: int = 0  # samples already taken from `slot`
    answer: int = 0  # turn of the answer that is being sent; 0: none
    position: int = 0  # of the next sample, in the answer
    past_from: int = 0  # position of the answer's first sample that this player took
    repeat: Samples = EMPTY  # samples to repeat before new ones
    rewind_to: int | None = None  # position at which the answer resumes; None: where it stopped
    started: bool = False  # its first sample was sent, and PlaybackStarted with it
    ended: bool = False  # its last sample was taken
    silent_at: int = 0  # index after the last voice sample that was sent
    flowing: bool = False  # the previous block was voice to its end
    paused_for: int | None = None  # serial of the onset, 0 for a press; None: not paused


class Player:
    """Sends the answers of the ring `voice`. `supply` returns the next slot, or None; it is called
    only when the next sample is needed.

    Silence within an answer (a pause, a late speaker) does not advance its position. Slots of older
    turns are dropped; slots of a later turn wait.

    A block counts as sent at the next call of `next_block`, unless `take_back` comes first.
    """

    def __init__(
        self,
        supply: Callable[[], RingSlot | None],
        profile: FadeProfile,
        *,
        block_frames: int,
        volume: float,
    ) -> None:
        self._supply = supply
        self._profile = profile
        self.block_frames = block_frames
        self._fader = Fader(
            block_frames,
            down_frames=profile.down_frames,
            up_frames=profile.up_frames,
            volume=volume,
        )
        self._voice = np.zeros(block_frames, np.int16)
        self._past = SampleBuffer(_KEPT_FRAMES)  # samples taken of the answer, by position
        self._words: deque[int] = deque(maxlen=_WORDS)  # positions at which its words start
        self._state = _PlayState()
        self._state_before = copy(self._state)  # before the last block
        self._fetched: list[RingSlot] = []  # slots fetched for the last block
        self._returned: deque[RingSlot] = deque()  # slots of refused blocks; used before `supply`

    def set_volume(self, volume: float) -> None:
        """0 to 1, reached by the end of the next block."""
        self._fader.set_volume(volume)

    def rewind(self, turn: int, position: int) -> None:
        """Resume answer `turn` at `position`, or at the oldest sample kept of it. No effect on
        another answer, or unless the answer is held at the next block; a ducked one falls silent
        until it resumes."""
        if turn == self._state.answer:
            self._state.rewind_to = position

    def take_back(self) -> None:
        """Undo the last block, which the card did not take: its samples are sent again, and its
        events did not happen."""
        self._state = copy(self._state_before)
        self._returned.extendleft(reversed(self._fetched))
        self._fetched.clear()

    def on_dropout(self) -> None:
        """The card was restarted (dropout, replug): continue with a fade in, as after a pause."""
        self._state.flowing = False
        self._fader.drop_tail()
        if self._state.answer:
            self._fader.mute_now()

    def next_block(
        self, turn: int, hold: int, released: int, index: int, *, pressed: bool = False
    ) -> PlaybackBlock:
        """The next block, whose first sample leaves the loudspeaker at `index`."""
        self._state_before = copy(self._state)
        self._fetched.clear()
        state = self._state
        held = hold != released
        ducked = held and self._profile.duck > 0 and not pressed and state.rewind_to is None
        silent = (held and not ducked) or pressed
        if not state.answer:
            self._start_answer(turn, held=held or pressed, index=index)
        answer = state.answer
        audible = answer != 0 and turn == answer and not silent
        if audible and state.paused_for is not None:
            self._rewind(index)
        if audible:
            state.rewind_to = None
        position = state.position
        events: list[PlaybackEvent] = []
        if not answer:
            samples, voice = self._fader.silence(), 0
        elif audible:
            level = self._profile.duck if ducked else 1.0
            samples, voice = self._play(level, released, index, events)
        else:
            samples, voice = self._fade_out()
        state.flowing = voice == len(samples)
        if voice:
            state.silent_at = index + voice
        if answer:
            cause = (hold if held else 0) if silent else None
            self._end_or_pause(cut=turn != answer, cause=cause, events=events)
        return PlaybackBlock(samples, index, position, answer if voice else 0, tuple(events))

    def _start_answer(self, turn: int, *, held: bool, index: int) -> None:
        state = self._state
        for _ in range(_MAX_STALE_SLOTS):
            slot = self._next_slot()
            if slot is None or slot.stream >= turn:
                break
            state.slot = None
        slot = state.slot
        if slot is None or slot.stream != turn or held:
            return
        state.answer, state.position, state.past_from = turn, slot.position, slot.position
        state.ended, state.flowing, state.started, state.paused_for = False, False, False, None
        state.repeat, state.rewind_to = EMPTY, None
        state.silent_at = index
        self._words.clear()
        self._fader.open_now()

    def _play(
        self, level: float, released: int, index: int, events: list[PlaybackEvent]
    ) -> tuple[Samples, int]:
        state = self._state
        position = state.position
        taken = self._take_samples(len(self._voice))
        if taken and not state.flowing and position and abs(int(self._voice[0])) > QUIET:
            self._fader.mute_now()  # starts in the middle of a sound: fade in
        if taken and not state.started:
            state.started = True
            events.append(PlaybackStarted(state.answer, index))
        elif taken and state.paused_for is not None:
            events.append(PlaybackResumed(state.answer, released, position, index))
        if taken:
            state.paused_for = None
        return self._fader.ramp_to(self._voice[:taken], level), taken

    def _rewind(self, index: int) -> None:
        """Go back to `rewind_to`, or after a long pause to the start of the interrupted word."""
        state = self._state
        kept = min(_KEPT_FRAMES - len(state.repeat), state.position - state.past_from)
        if state.rewind_to is not None:
            self._go_back(max(0, min(kept, state.position - state.rewind_to + _LEAD)))
            return
        after, pause = self._profile.rewind_after, index - state.silent_at
        if not after or pause < after or self._next_slot() is None:
            return
        self._go_back(self._last_word(min(LOOK_BACK, kept)))

    def _go_back(self, back: int) -> None:
        """Repeat the last `back` samples of the answer, then what is left to repeat."""
        state = self._state
        state.position -= back
        state.repeat = self._past.read(state.position, back + len(state.repeat))

    def _last_word(self, available: int) -> int:
        """How many of the `available` samples to repeat: from the last word start that the voice
        marked in them, else from the one found in the sound; 0 if the word was over."""
        position = self._state.position
        back = last_word(self._past.read(position - available, available))
        word_starts = [at for at in self._words if position - available <= at < position]
        return min(available, position - word_starts[-1] + _LEAD) if back and word_starts else back

    def _fade_out(self) -> tuple[Samples, int]:
        """Fade out over the next samples of the answer; they count as heard."""
        if not self._state.flowing:
            self._fader.mute_now()
        taken = self._take_samples(min(self._fader.fade_out_samples, len(self._voice)))
        return self._fader.fade_out(self._voice[:taken]), taken

    def _end_or_pause(self, *, cut: bool, cause: int | None, events: list[PlaybackEvent]) -> None:
        """Add the event of an end, a stop or a pause. `cause`: serial of the onset that pauses the
        answer, 0 for a press; None: nothing pauses it."""
        state = self._state
        turn, position, silent_at = state.answer, state.position, state.silent_at
        if state.ended:
            events.append(PlaybackFinished(turn, position, silent_at - 1))
            state.answer = 0
        elif cut and self._fader.is_muted:
            events.append(PlaybackStopped(turn, position, silent_at))
            state.answer = 0
        elif cause is not None and self._fader.is_muted and state.paused_for != cause:
            events.append(PlaybackPaused(turn, cause, position, silent_at))
            state.paused_for = cause

    def _next_slot(self) -> RingSlot | None:
        """The slot that contains the next sample; None if it has not arrived."""
        state = self._state
        if state.slot is None:
            state.slot = self._returned.popleft() if self._returned else self._supply()
            state.slot_at = 0
            if state.slot is not None:
                self._fetched.append(state.slot)
        return state.slot

    def _take_samples(self, count: int) -> int:
        """Copy up to `count` samples of the answer to `_voice` and advance. Returns their
        number."""
        state = self._state
        taken = min(count, len(state.repeat))
        if taken:
            self._voice[:taken] = state.repeat[:taken]
            state.repeat = state.repeat[taken:]
            state.position += taken
        while taken < count and not state.ended:
            slot = self._next_slot()
            if slot is None or slot.stream != state.answer:
                break
            at = state.slot_at
            n = min(count - taken, len(slot.samples) - at)
            if slot.flags & WORD and not at and slot.position not in self._words:
                self._words.append(slot.position)  # not twice, after a refused block
            new = slot.samples[at : at + n]
            self._voice[taken : taken + n] = new
            self._past.write(slot.position + at, new)
            taken += n
            state.slot_at = at + n
            state.position = slot.position + state.slot_at
            if state.slot_at == len(slot.samples):
                state.slot = None
                state.ended = bool(slot.flags & END)
        return taken
