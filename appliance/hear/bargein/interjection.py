"""A sound over an answer: its verdict, what still belongs to it, and whether it was a turn.

In: the blocks since its onset, recognised words. Out: opinions and one verdict; later, whether a
sound is only its end, and whether an interruption was a murmur after all.
"""

from __future__ import annotations

from collections.abc import Callable

from appliance.hear.bargein.classifier import (
    STILL_SOUNDS_MS,
    ClassProbabilities,
    SegmentClassifier,
    VerdictTracker,
)
from appliance.hear.bargein.murmur_judge import MurmurJudge
from appliance.hear.bargein.segment import Segment
from appliance.hear.bargein.word_evidence import evidence
from appliance.hear.endpointing import Endpointer
from appliance.hear.onset.frontend import AudioBlock
from appliance.hear.onset.sound_tail import SoundTail
from appliance.messages.hearing import Judgement, WordsHeard
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import VerdictSettings

LONGEST_MURMUR_FRAMES = RATE_HZ  # from its onset to its last voice; real ones last up to 0.75 s
_SAME_FRAMES = RATE_HZ // 10  # an onset within 100 ms of the end of a voice belongs to it


class InterjectionJudge:
    """Judges one sound over an answer after another.

    may_be_murmur  the answer has given way to the present utterance, which may still be no turn
    """

    def __init__(
        self,
        settings: VerdictSettings,
        classifier: SegmentClassifier,
        murmurs: MurmurJudge | None = None,
    ) -> None:
        self._tracker = VerdictTracker(settings, classifier, murmurs)
        self._tail = SoundTail()
        self._voice_until = -RATE_HZ  # end of the last sound that was a voice
        self._serial = 0
        self._asked = 0  # serial of the newest sound over an open question; 0: none
        self.may_be_murmur = False

    @property
    def confirms_voice(self) -> bool:
        """Whether the newest opinion confirms a voice."""
        return self._tracker.confirms_voice

    def start(self, serial: int, past: Samples) -> None:
        """Start with the sound of onset `serial`; `past` as in `SegmentClassifier.start`."""
        self._serial = serial
        self._tracker.start(past)

    def add_words(self, words: WordsHeard) -> None:
        """Add words recognised in the present sound to the evidence."""
        if words.serial == self._serial:
            self._tracker.add_evidence(evidence(words))

    def process(
        self, block: AudioBlock, segment: Segment, age_ms: int, sound: Callable[[], Samples]
    ) -> tuple[ClassProbabilities | None, Judgement | None]:
        """Process a block as `VerdictTracker.process` does."""
        opinion, verdict = self._tracker.process(block, segment, age_ms, sound)
        self.may_be_murmur = verdict == "interruption"
        return opinion, verdict

    def set_asked(self, serial: int) -> None:
        """Sound `serial` came over an open question of the box (SetListening.asked); 0: none."""
        self._asked = serial

    @property
    def answers(self) -> bool:
        """Whether the present sound answers a question of the box, even if it is a murmur."""
        return self._asked != 0 and self._asked == self._serial

    def close(self, verdict: Judgement, segment: Segment, now: int) -> None:
        """The answer goes on at sample `now`; what follows may be the end of the sound."""
        ended = segment.quiet_ms >= STILL_SOUNDS_MS
        self._tail.start(segment.peak_db, voice=verdict == "backchannel", ended=ended)
        if verdict == "backchannel":
            self.end_voice(now)

    def end_voice(self, now: int) -> None:
        """A voice ended at sample `now`."""
        self._voice_until = now

    def covers(self, energy_db: float) -> bool:
        """Whether the next block is only the end of the last sound. Call it for each block."""
        return self._tail.covers(energy_db)

    def continues_voice(self, onset: int) -> bool:
        """Whether a sound with this onset began within a voice that already had its verdict."""
        return onset < self._voice_until + _SAME_FRAMES

    def was_murmur(
        self, endpointer: Endpointer, segment: Segment, now: int, sound: Callable[[], Samples]
    ) -> bool:
        """Whether the utterance to which the answer has given way turns out to be a murmur. Call it
        for each block at whose end, `now`, that is still open."""
        spoken_frames = endpointer.last_voiced - endpointer.onset
        self.may_be_murmur = self.may_be_murmur and spoken_frames <= LONGEST_MURMUR_FRAMES
        silent_ms = endpointer.silent_frames(now) * 1000 // RATE_HZ
        if not self.may_be_murmur or self.answers:
            return False
        # The speech detector lags behind the end of a voice; in a noisy room only it finds one.
        quiet_ms = max(silent_ms, segment.quiet_ms)
        return self._tracker.was_murmur(silent_ms, quiet_ms, sound)
