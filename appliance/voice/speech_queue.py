"""The speech queue: sentences in, an answer's sound out in slots, in order. It has no ring, socket
or clock."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from appliance.errors import UnsayableText, VoiceError
from appliance.messages.speech import (
    MOST_SPOKEN_WORDS,
    EndAnswer,
    SentenceTokens,
    Speak,
    SpeakFailed,
    Spoken,
)
from appliance.pcm import EMPTY, RATE_HZ, Samples
from appliance.runtime.ipc.ring import END, START, WORD
from appliance.voice.by_language import VoicesByLanguage
from appliance.voice.chime import sound_before
from appliance.voice.interface import Speech, Voice
from appliance.voice.judged_voice import JudgedSpeech
from appliance.voice.open_sentence import OpenSentence
from appliance.voice.prepared_speech import SpeechPreparation
from appliance.voice.sentence_gap import gap_after
from appliance.voice.spoken_words import WordBegins, heard_after
from appliance.voice.waiting_sound import WaitingSound

PIECE_FRAMES = 320  # a slot of the ring `voice`
MOST_WAITING_FRAMES = 60 * RATE_HZ  # buffered before the ring; at that limit synthesis pauses

log = logging.getLogger("speaker")


class VoiceSlot(NamedTuple):
    """Samples for one slot of the ring: of answer `turn`, from sample `position` of it on."""

    turn: int
    position: int
    flags: int
    samples: Samples


@dataclass
class SpeechQueue:
    """Synthesises an answer's sentences. The first of `voices` speaks, the others are fallbacks.

    A sentence is synthesised as fast as possible and its sound is buffered here until the ring has
    room, so that its length is known before it is heard. Then the next sentence starts.
    """

    voices: Sequence[Voice]
    report: Callable[[Spoken | SpeakFailed], object]
    turn: int = 0
    position: int = 0  # samples of the answer handed out so far
    preparation: SpeechPreparation = field(default_factory=SpeechPreparation)
    by_language: VoicesByLanguage | None = None  # selects the voices for a text
    recording: Callable[[], Samples] = lambda: EMPTY  # returns the owner's test recording
    _orders: deque[tuple[Speak | EndAnswer, float]] = field(default_factory=deque)
    _sentence: OpenSentence | None = None
    _previous_text: str = ""  # "" after a restart; it counts as a complete sentence
    _speech: Speech | None = None
    _speech_voice: Voice | None = None  # the voice of `_speech`
    _buffer: WaitingSound = field(default_factory=WaitingSound)
    _word_begins: WordBegins = field(default_factory=WordBegins)
    _ended: bool = False
    _sounds_since_s: float = 0.0  # when the answer began to sound; pauses are ignored
    _failed: list[Voice] = field(default_factory=list)  # in this answer: not used until the next
    _rejected_by_judge: bool = False  # in this answer the speech judge has rejected a voice's sound
    _logged_problems: set[str] = field(default_factory=set)  # with texts; each is logged once

    def prepare(self, text: str, tokens: SentenceTokens | None = None) -> None:
        """Start to synthesise what may be the next sentence. No effect while the queue is busy."""
        if not self.busy and (voice := self._next_voice(text)) is not None:
            self.preparation.begin(text, voice, tokens)

    def push(self, order: Speak | EndAnswer, now_s: float) -> None:
        """Append a sentence, or the message that none will follow."""
        self._orders.append((order, now_s))

    @property
    def speech(self) -> Speech | None:
        """The speech to poll for sound; None if there is none, or while the buffer is full."""
        return self._speech if self._buffer.frames < MOST_WAITING_FRAMES else None

    @property
    def waits_for_room(self) -> bool:
        return self._buffer.frames > 0 or self._end_is_due

    @property
    def busy(self) -> bool:
        """Whether the queue has orders or sound that a raised turn would drop."""
        return bool(self._speech or self._buffer.frames or self._orders)

    def pop_slots(self, turn: int, room: int, now_s: float) -> list[VoiceSlot]:
        """At most `room` slots of answer `turn`, the one that has the floor.

        Orders of older answers are dropped; orders of newer ones stay until they have the floor.
        """
        self._drop_older_than(turn)
        slots: list[VoiceSlot] = []
        while (
            self._start_sentence(turn, now_s)
            or self._read_speech(now_s)
            or self._cut_slot(room, slots)
        ):
            continue
        if slots and not slots[0].position:
            self._sounds_since_s = now_s
        return slots

    def stop(self) -> None:
        """Drop all orders and sound."""
        self.preparation.drop()
        self._drop_sound()
        self._orders.clear()

    def _drop_older_than(self, turn: int) -> None:
        if self.turn < turn:
            self._drop_sound()
            self.turn, self.position, self._ended, self._rejected_by_judge = turn, 0, False, False
            self._failed.clear()
        while self._orders and self._orders[0][0].turn < turn:
            self._orders.popleft()

    def _drop_sound(self) -> None:
        if self._speech is not None:
            self._speech.cancel()
        self._speech = self._sentence = None
        self._buffer.clear()
        self._word_begins.clear()

    def _start_sentence(self, turn: int, now_s: float) -> bool:
        """Start the next sentence. Returns whether there was one that could start."""
        if self._speech is not None or self._buffer.frames or not self._orders:
            return False
        order, pushed_s = self._orders[0]
        if not isinstance(order, Speak) or order.turn != turn:
            return False
        self._orders.popleft()
        if self._ended:
            self.report(SpeakFailed(turn, order.number, "The answer had already ended."))
            return True
        gap = gap_after(self._previous_text) if self.position else 0
        self._previous_text = order.text
        # The wait for the previous sentence does not count as time of the synthesiser.
        started_s = pushed_s if not self.position else now_s
        self._sentence = OpenSentence(order, started_s, self.position + gap)
        if self.by_language is not None and order.text:
            self._sentence.language = self.by_language.begin(order.text)
        if order.chime or order.ring or order.sound:
            self._chime(gap, now_s)
        self._synthesise(order.text)
        return True

    def _chime(self, gap: int, now_s: float) -> None:
        """Buffer the sentence's chime, which counts as part of its sound."""
        assert self._sentence is not None
        order = self._sentence.order
        sound = sound_before(order, self.recording)
        self._buffer.append(np.zeros(gap, np.int16))
        self._buffer.append(sound)
        self._sentence.frames = self._sentence.chime_frames = len(sound)
        self._sentence.first_s = now_s

    def _synthesise(self, text: str) -> None:
        assert self._sentence is not None
        if not text:
            self._finish()
            return
        voice = self._next_voice(text)
        if voice is None:
            self._give_up("No voice can speak.")
            return
        self._speech_voice = voice
        try:
            tokens = self._sentence.order.tokens
            self._sentence.passed_on |= self._rejected_by_judge and tokens is not None
            prepared = self.preparation.take(text, voice, tokens)
            self._speech = speech = prepared or voice.synthesise(text, tokens)
            if self.position and isinstance(speech, JudgedSpeech):
                speech.hold_until(self._sounds_since_s + self.position / RATE_HZ)
        except UnsayableText as error:
            self._try_next_voice(error)
        except VoiceError as error:
            self._fail(error)

    def _next_voice(self, text: str) -> Voice | None:
        """The first voice that is ready, can say this sentence, and has not failed in this answer.
        If there is none, the last one that is ready; None if no voice is."""
        by_language = self.by_language
        voices = self.voices if by_language is None else by_language.voices_for(text)
        ready = [voice for voice in voices if voice.ready]
        excluded = [*self._failed, *(self._sentence.unable if self._sentence is not None else ())]
        usable = [voice for voice in ready if voice not in excluded]
        return next(iter(usable), ready[-1] if ready else None)

    def _read_speech(self, now_s: float) -> bool:
        """Buffer what the synthesiser has made. Returns whether there was sound, or its end."""
        speech = self.speech
        if speech is None:
            return False
        assert self._sentence is not None
        try:
            samples = speech.read()
        except UnsayableText as error:
            self._speech = None
            self._try_next_voice(error)
            return True
        except VoiceError as error:
            self._speech = None
            self._fail(error)
            return True
        if samples is None:
            self._speech = None
            self._finish(now_s)
            return True
        if not len(samples):
            return False
        if self._sentence.first_s is None:
            self._sentence.first_s = now_s
            gap = self._sentence.position - self.position
            self._buffer.append(np.zeros(gap, np.int16) if gap else EMPTY)
        self._sentence.frames += len(samples)
        self._buffer.append(samples)
        self._place_words(self._sentence, speech)
        return True

    def _place_words(self, sentence: OpenSentence, speech: Speech) -> None:
        """Record the positions of the words that the voice has reported since the last call."""
        sentence.words = () if sentence.mixed else speech.words
        for word in sentence.words[sentence.placed :]:
            self._word_begins.add(sentence.position + sentence.chime_frames + word.at)
        sentence.placed = len(sentence.words)

    def _finish(self, now_s: float | None = None) -> None:
        sentence, self._sentence = self._sentence, None
        assert sentence is not None
        first_s = sentence.first_s if sentence.first_s is not None else now_s
        took_ms = 1000 * (first_s - sentence.started_s) if first_s is not None else 0.0
        order = sentence.order
        word_ends = heard_after(sentence.words, MOST_SPOKEN_WORDS)
        end = sentence.frames  # a word may be reported to end in trailing silence that was trimmed
        words = tuple((said, min(end, sentence.chime_frames + over)) for said, over in word_ends)
        voice = self._speech_voice.name if self._speech_voice is not None and order.text else ""
        self.report(
            Spoken(order.turn, order.number, sentence.position, sentence.frames, took_ms, words,
                   sentence.language, voice, sentence.passed_on)
        )  # fmt: skip

    def _try_next_voice(self, error: UnsayableText) -> None:
        """Have another voice say a sentence that the present one cannot. The present one is tried
        again for the next sentence, unless the error holds for the rest of the answer."""
        assert self._sentence is not None
        assert self._speech_voice is not None
        self._sentence.unable.append(self._speech_voice)
        self._sentence.passed_on |= not error.foreseen
        if error.rest_of_answer:
            self._failed.append(self._speech_voice)
            self._rejected_by_judge = True
        rest = self._sentence.order.text[error.said :].strip()
        if error.said and rest:
            self._sentence.mixed, self._sentence.words = True, ()
        fallback = self._next_voice(self._sentence.order.text)
        if fallback is None or fallback in self._sentence.unable:
            self._give_up(error.problem)
            return
        if error.problem not in self._logged_problems:
            self._logged_problems.add(error.problem)
            what = "the rest of the answer" if error.rest_of_answer else "it, and others like it"
            log.warning("%s %s says %s.", error, fallback.name, what)
        self._synthesise(rest)

    def _fail(self, error: VoiceError) -> None:
        """Handle a failed voice: its fallback says the sentence, unless a part of it was said, and
        the rest of the answer. A voice that recovers speaks again from the next answer on."""
        assert self._sentence is not None
        assert self._speech_voice is not None
        newly_failed = self._speech_voice not in self._failed
        if newly_failed:
            self._failed.append(self._speech_voice)
        fallback = self._next_voice(self._sentence.order.text)
        if newly_failed and fallback is not None and fallback not in self._failed:
            log.error("%s %s speaks instead.", error, fallback.name)
            if self._sentence.frames == self._sentence.chime_frames:
                self._sentence.passed_on = True
                self._synthesise(self._sentence.order.text)
                return
        self._give_up(error.problem)

    def _give_up(self, problem: str) -> None:
        assert self._sentence is not None
        if self._sentence.frames:
            self._finish()
            return
        order = self._sentence.order
        self._sentence = None
        self.report(SpeakFailed(order.turn, order.number, problem))

    @property
    def _end_is_due(self) -> bool:
        return (
            self._speech is None
            and not self._buffer.frames
            and bool(self._orders)
            and isinstance(self._orders[0][0], EndAnswer)
            and self._orders[0][0].turn == self.turn
        )

    def _cut_slot(self, room: int, slots: list[VoiceSlot]) -> bool:
        """Append the next slot to `slots`. Returns whether there was one, and room for it."""
        if len(slots) >= room:
            return False
        if self._buffer.frames:
            # At the end of a sentence a short slot is sent: it must not wait for the next sentence.
            if self._buffer.frames < PIECE_FRAMES and self._speech is not None:
                return False
            begins, limit = self._word_begins.take(self.position, PIECE_FRAMES)
            self._append(self._buffer.cut(limit), WORD if begins else 0, slots)
            return True
        if self._end_is_due:
            self._orders.popleft()
            if not self._ended:
                self._ended = True
                self._append(EMPTY, END, slots)
            return True
        return False

    def _append(self, samples: Samples, flags: int, slots: list[VoiceSlot]) -> None:
        if self.position == 0:
            flags |= START
        slots.append(VoiceSlot(self.turn, self.position, flags, samples))
        self.position += len(samples)
