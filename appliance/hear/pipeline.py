"""The hearing pipeline: blocks of sound in, onsets, verdicts and utterances out.

It uses no ring and no clock: time is the number of samples given, so it runs as fast as it can.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

import msgspec

from appliance.hear.aec.factory import EchoCanceller
from appliance.hear.bargein import network
from appliance.hear.bargein.classifier import SegmentClassifier
from appliance.hear.bargein.features import GIVEN_MS
from appliance.hear.bargein.interjection import InterjectionJudge
from appliance.hear.bargein.murmur_judge import BEFORE_MS, MurmurJudge
from appliance.hear.bargein.segment import Segment, usual_after
from appliance.hear.endpointing import LIKELY_END_FRAMES, TRAILING_FRAMES, Endpointer
from appliance.hear.listening_mode import ListeningMode
from appliance.hear.network_judge import NetworkJudge
from appliance.hear.onset.frontend import AudioBlock, AudioFrontEnd
from appliance.hear.onset.onset_locator import OnsetLocator
from appliance.hear.onset.soft_speech import SoftSpeechDetector
from appliance.hear.onset.vad import WINDOW_FRAMES
from appliance.hear.speech_phase import SpeechPhase
from appliance.hear.turn import log_mel
from appliance.hear.turn.end_of_turn import EndOfTurn
from appliance.hear.utterance_stream import SpeechSlot, UtteranceStream
from appliance.messages.hearing import (
    Judgement,
    Onset,
    Opinion,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WordsHeard,
)
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, SampleBuffer, Samples
from appliance.settings import HearingSettings

HearingEvent = Onset | Opinion | Verdict | SpeechStarted | SpeechEnded | SpeechSlot

log = logging.getLogger("listener")

PAST_FRAMES = 10 * RATE_HZ  # buffered: pre-roll, and the sound before it was confirmed as speech
OVER_BOX_FRAMES = RATE_HZ // 2  # bridges pauses of an answer: between sentences, after a resume
SPLICED_FRAMES = RATE_HZ // 2  # a gap of lost slots up to this long does not end an utterance
_GUARDED_PATIENCE = 2  # factor: impact noise delays the VAD, and the voice band has confirmed


class HearingPipeline:
    """Takes blocks of 5 ms in order and returns events in the order in which they must be sent.

    Every onset gets a serial and leads to exactly one of these sequences:
      Onset(speaking=False) … SpeechStarted … SpeechEnded, or Verdict("noise");
      Onset(speaking=True) … Opinion* … Verdict("interruption"), SpeechStarted … SpeechEnded, or
      Verdict("backchannel" | "noise"). In the first of these the interruption may be taken back:
      Verdict("backchannel") right before a SpeechEnded with `frames` 0.
    The number of an utterance is the serial of its onset. Chunks precede the SpeechEnded that
    counts them; its `frames` counts from the utterance's start, over all its pieces.
    """

    def __init__(
        self,
        settings: HearingSettings,
        *,
        serial: int = 0,
        classifier: SegmentClassifier | None = None,
        canceller: EchoCanceller | None = None,
        judge: NetworkJudge[float] | None = None,
        murmurs: MurmurJudge | None = None,
        again: bool = False,
    ) -> None:
        """`serial`: the last in use. `canceller`: replaces the settings' one. `judge`: of the end
        of a turn; without one silence decides. `murmurs`: tells them from calls; without one the
        classifier does. `again`: an earlier listener has ended."""
        self._settings = settings
        self._front_end = AudioFrontEnd(settings, canceller, again=again)
        self._recent = SampleBuffer(PAST_FRAMES)
        self._endpointer = Endpointer(settings.turn)
        self._end_of_turn = EndOfTurn(settings.turn, judge)
        self._interjection = InterjectionJudge(
            settings.verdict, classifier or network.make_classifier(None, log), murmurs
        )
        self._listening_mode = ListeningMode()
        self._onset_locator = OnsetLocator()
        self._now = 0  # samples heard since the start, gaps not counted
        self._card_index = 0  # the card's index of sample 0
        self._serial = serial
        self._phase = SpeechPhase.QUIET
        self._onset = 0
        self._over_box_until = -1
        self._soft_speech = SoftSpeechDetector(settings)
        self._usual_db: float | None = None  # the owner's speech, dB full scale above 120 Hz
        self._segment = Segment(None)
        self._utterance: UtteranceStream | None = None
        # Set by the caller: an answer is under way, including its pauses. None: unknown, and the
        # loudspeaker's sound decides. A "yes" just after an answer is a turn, not an interjection.
        self.answering: bool | None = None
        self.mic_off = False  # set by the caller: the zeros of a muted microphone teach nothing
        self.last_block: AudioBlock | None = None

    @property
    def _age_ms(self) -> int:
        return (self._now - self._onset) * 1000 // RATE_HZ

    @property
    def active_serial(self) -> int:
        """The serial of the sound under way, until its end; else 0."""
        return 0 if self._phase is SpeechPhase.QUIET else self._serial

    def process(self, mic: Samples, played: Samples, index: int) -> Sequence[HearingEvent]:
        """Process a block, int16[80], of microphone and loudspeaker from the same card index on."""
        events: list[HearingEvent] = []
        if self._now == 0:
            self._card_index = index
        elif index != self._card_index + self._now:
            events += self._on_index_jump(index)
        followed = self._phase is not SpeechPhase.QUIET
        block = self._front_end.process(mic, played, followed, mic_off=self.mic_off)
        self.last_block = block
        self._recent.write(self._now, block.samples)
        self._onset_locator.push(block)
        self._now += BLOCK_FRAMES
        if block.sounding:
            self._over_box_until = self._now + OVER_BOX_FRAMES
        if block.probability is not None:
            self._listening_mode.add_probability(block.probability, self._now)
        if followed:
            self._segment.update(block)
            if block.probability is not None:
                self._endpointer.update(block.probability, self._now)
        match self._phase:
            case SpeechPhase.QUIET:
                self._detect(block, events)
            case SpeechPhase.SOUND:
                self._confirm_speech(events)
            case SpeechPhase.JUDGED:
                self._classify(block, events)
            case SpeechPhase.SPEECH:
                self._track_speech(events)
        return events

    def flush(self) -> list[HearingEvent]:
        """End the onset or utterance under way with the sound so far: the input has stopped."""
        events: list[HearingEvent] = []
        if self._phase is SpeechPhase.SPEECH:
            self._end_speech(events)
        elif self._phase is not SpeechPhase.QUIET:
            self._withdraw("noise", events)
        return events

    def set_listening(self, mode: SetListening) -> list[HearingEvent]:
        """Apply a SetListening: listening mode, talk button or wake word."""
        events: list[HearingEvent] = []
        previous, self._listening_mode.now = self._listening_mode.now, mode
        self._interjection.set_asked(mode.asked)
        if mode.since and mode.since != previous.since:
            self._on_wake_word(mode.since - self._card_index, events)
        if mode.held and not previous.held:
            self._on_button(events)
        elif previous.held and not mode.held and self._phase is SpeechPhase.SPEECH:
            self._end_speech(events)
        return events

    def on_words(self, words: WordsHeard) -> None:
        """Add recognised words to the evidence for a verdict; ignored once that is final."""
        if self._phase is SpeechPhase.JUDGED or self._interjection.may_be_murmur:
            self._interjection.add_words(words)

    def _detect(self, block: AudioBlock, events: list[HearingEvent]) -> None:
        if self._interjection.covers(block.energy_db):
            self._quiet()
            return
        if not (block.gate or self._soft_speech.process(block)):
            return
        self._soft_speech.reset()
        over_box = self._now <= self._over_box_until if self.answering is None else self.answering
        if not self._listening_mode.accepts(over_box):
            self._front_end.gate.reset()
            return
        if over_box and self._front_end.background.soft:
            return  # likely a television; the owner's next syllable may be louder than that
        self._start_segment(self._onset_locator.onset(), over_box, events)
        if block.probability is not None:
            self._endpointer.update(block.probability, self._now)
        if over_box:
            self._interjection.start(self._serial, self._sound(GIVEN_MS)[:-BLOCK_FRAMES])

    def _confirm_speech(self, events: list[HearingEvent]) -> None:
        if self._unconfirmed(events):
            return
        endpointer, turn = self._endpointer, self._settings.turn
        if endpointer.spoken_frames >= _frames(turn.start_ms):
            self._start_speech(events)
        elif endpointer.silent_frames(self._now) >= _frames(turn.end_ms):
            self._withdraw("noise", events)

    def _classify(self, block: AudioBlock, events: list[HearingEvent]) -> None:
        age_ms = self._age_ms
        opinion, verdict = self._interjection.process(block, self._segment, age_ms, self._sound)
        if opinion is not None:
            events.append(Opinion(self._serial, age_ms, *opinion))
        if not self._interjection.confirms_voice and self._unconfirmed(events):
            return
        verdict = "noise" if block.changed else verdict  # the box heard itself
        if verdict == "backchannel" and self._interjection.answers and self._endpointer.confirmed:
            verdict = "interruption"
        if verdict == "interruption":
            events.append(Verdict(self._serial, verdict, age_ms))
            self._start_speech(events)
        elif verdict is not None:
            self._withdraw(verdict, events)

    def _sound(self, before_ms: int = BEFORE_MS) -> Samples:
        """The present sound, int16, from so long before its onset on."""
        first = self._onset - _frames(before_ms)
        return self._recent.read(first, self._now - first)

    def _track_speech(self, events: list[HearingEvent]) -> None:
        assert self._utterance is not None
        if self._interjection.was_murmur(self._endpointer, self._segment, self._now, self._sound):
            self._end_speech(events, no_turn=True)
            return
        pause = not self._endpointer.voiced
        last = self._endpointer.last_voiced + TRAILING_FRAMES
        until = min(self._now, last) if pause else self._now
        events += self._utterance.pop_ready(self._recent, until, self._card_index, pause)
        if self._endpointer.silent_frames(self._now) >= LIKELY_END_FRAMES:
            events += self._utterance.flush_pause(self._recent, until, self._card_index)
        if self._listening_mode.now.held:
            self._utterance.shorten_silence(self._now, self._endpointer.silent_frames(self._now))
            return
        newest = partial(self._utterance.newest, self._recent, self._now, log_mel.WINDOW_FRAMES)
        if self._end_of_turn.update(self._endpointer.silent_frames(self._now), newest):
            self._end_speech(events)

    def _on_button(self, events: list[HearingEvent]) -> None:
        """Start an utterance at once: a press of the talk button needs no confirmation."""
        self._interjection.may_be_murmur = False
        if self._phase is SpeechPhase.SPEECH:
            return
        if self._phase is SpeechPhase.QUIET:
            self._start_segment(self._now, False, events)
        elif self._phase is SpeechPhase.JUDGED:
            events.append(Verdict(self._serial, "interruption", self._age_ms))
        self._start_speech(events)

    def _on_wake_word(self, at: int, events: list[HearingEvent]) -> None:
        """Accept the speech since `at`, where a wake word ended some time ago."""
        if self._phase is not SpeechPhase.QUIET:
            return
        at = min(at, self._now)
        self._listening_mode.on_wake_word(at)
        hops = self._listening_mode.probabilities_since(at)
        threshold = self._settings.turn.probability
        voiced = [end for probability, end in hops if probability >= threshold]
        if not voiced:
            return
        self._start_segment(max(at, voiced[0] - WINDOW_FRAMES), False, events)
        for probability, end in hops:
            self._endpointer.update(probability, end)

    def _start_segment(self, onset: int, over_box: bool, events: list[HearingEvent]) -> None:
        self._serial += 1
        self._onset = onset
        self._endpointer.start(onset)
        self._segment = Segment(self._usual_db)
        self._phase = SpeechPhase.JUDGED if over_box else SpeechPhase.SOUND
        events.append(
            Onset(self._serial, self._card_index + onset, over_box, self._card_index + self._now)
        )

    def _unconfirmed(self, events: list[HearingEvent]) -> bool:
        """Withdraw the onset if no voice was confirmed in time; returns whether it did."""
        age_frames = self._now - self._onset
        factor = _GUARDED_PATIENCE if self._front_end.gate.guarded else 1
        patience_frames = factor * _frames(self._settings.onset.confirm_ms)
        if self._endpointer.confirmed or age_frames < patience_frames:
            return False
        # The sound has lasted so long without a voice: it is the room's noise now.
        self._front_end.floor.accept_noise(self._onset_locator.median_db())
        if not self._interjection.continues_voice(self._onset):
            self._front_end.gate.false_alarm()
        self._withdraw("noise", events)
        return True

    def _withdraw(self, verdict: Judgement, events: list[HearingEvent]) -> None:
        events.append(Verdict(self._serial, verdict, self._age_ms))
        if self._phase is SpeechPhase.JUDGED:  # the answer resumes in a moment
            self._over_box_until = self._now + OVER_BOX_FRAMES
            if not self._interjection.continues_voice(self._onset):
                self._front_end.gate.on_verdict(verdict)
            self._interjection.close(verdict, self._segment, self._now)
        self._quiet()

    def _start_speech(self, events: list[HearingEvent]) -> None:
        turn = self._settings.turn
        self._front_end.gate.confirm_voice()
        start = self._listening_mode.utterance_start(self._onset, _frames(turn.preroll_ms))
        first = max(0, start, self._now - PAST_FRAMES)
        self._utterance = UtteranceStream(self._serial, first, int(turn.piece_s * RATE_HZ))
        self._phase = SpeechPhase.SPEECH
        events.append(SpeechStarted(self._serial, self._serial, self._card_index + self._onset))
        events += self._utterance.pop_ready(
            self._recent, self._endpointer.last_voiced, self._card_index, quiet=False
        )

    def _end_speech(self, events: list[HearingEvent], *, no_turn: bool = False) -> None:
        """End the utterance. `no_turn`: it was a murmur, and the answer goes on."""
        assert self._utterance is not None
        if no_turn:
            events.append(Verdict(self._serial, "backchannel", self._age_ms))
            self._interjection.close("backchannel", self._segment, self._now)
        spoken_until = self._endpointer.last_voiced
        until = min(self._now, spoken_until + TRAILING_FRAMES)
        events += self._utterance.finish(self._recent, until, self._card_index, spoken_until)
        self._utterance = None
        if no_turn or not self._endpointer.confirmed:  # the talk button was held in silence
            assert isinstance(events[-1], SpeechEnded)
            events[-1] = msgspec.structs.replace(events[-1], frames=0)
            self._quiet()
            return
        self._usual_db = usual_after(self._usual_db, self._segment)
        self._front_end.background.on_utterance(self._segment.peak_db)
        self._interjection.end_voice(self._now)
        self._quiet()

    def _quiet(self) -> None:
        self._phase = SpeechPhase.QUIET
        self._interjection.may_be_murmur = False
        self._soft_speech.reset()
        self._front_end.gate.reset()

    def _on_index_jump(self, index: int) -> list[HearingEvent]:
        """Handle a gap in the card's index: slots were lost, or the card restarted."""
        gap = index - (self._card_index + self._now)
        events = [] if 0 < gap <= SPLICED_FRAMES else self.flush()
        self._card_index = index - self._now
        if not 0 < gap <= SPLICED_FRAMES:
            self._front_end.speech.reset()
        return events


def _frames(milliseconds: int) -> int:
    return milliseconds * RATE_HZ // 1000
