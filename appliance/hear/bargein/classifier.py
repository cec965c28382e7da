"""Verdict: classifies a sound over an answer as backchannel, interruption or noise.

In: the blocks since the onset. Out: opinions, and one verdict by the deadline. A
`SegmentClassifier` computes the opinions: `network.NetworkClassifier`, or `RuleClassifier` by the
table below if that cannot run. `IN_NETWORK` and `IN_RULES` say when an opinion suffices for a
verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from appliance.hear.bargein.murmur_judge import MurmurJudge
from appliance.hear.bargein.murmur_network import AGES_MS
from appliance.hear.bargein.segment import Segment
from appliance.hear.onset.frontend import AudioBlock
from appliance.messages.hearing import Judgement
from appliance.pcm import Samples
from appliance.settings import VerdictSettings


class ClassProbabilities(NamedTuple):
    """Probabilities that sum to one."""

    backchannel: float
    interruption: float
    noise: float

    @classmethod
    def of_log_odds(cls, murmur: float, noise: float) -> ClassProbabilities:
        """By the log odds of a murmur against a call, and of a noise against a voice."""
        voice, share = 1.0 - _probability(noise), _probability(murmur)
        return cls(voice * share, voice * (1.0 - share), 1.0 - voice)

    def given(self, evidence: LogOdds) -> ClassProbabilities:
        """These probabilities, updated with independent evidence."""
        scores = [math.log(max(p, 1e-9)) + e for p, e in zip(self, evidence, strict=True)]
        weights = [math.exp(score - max(scores)) for score in scores]
        return ClassProbabilities(*(weight / sum(weights) for weight in weights))


class LogOdds(NamedTuple):
    """Evidence for each class, added to its log probability; only the differences count."""

    backchannel: float
    interruption: float
    noise: float


NO_EVIDENCE = LogOdds(0.0, 0.0, 0.0)


class SegmentClassifier(Protocol):
    """Classifies one segment at a time; its probabilities can be read at any moment."""

    @property
    def schedule(self) -> DecisionSchedule: ...

    def start(self, past: Samples) -> None:
        """Start a segment. `past`: int16, the sound from 300 ms before the onset to this
        block."""

    def process(self, block: AudioBlock, segment: Segment) -> None:
        """Add the next block, and the measures of the segment, this block included."""

    def probabilities(self) -> ClassProbabilities: ...

    def correction(self) -> float:
        """By how much the owner's own takes have moved the log odds of a backchannel against an
        interruption in `probabilities`; 0 without any."""


class EvidenceRow(NamedTuple):
    """One row: the weights count in proportion as the measure goes from `low` to `high`.

    Weights are log odds for backchannel, interruption, noise.
    """

    measure: str
    low: float
    high: float
    backchannel: float
    interruption: float
    noise: float


PRIOR = (0.5, 0.5, 0.0)  # log odds before anything is known
# These measures cannot tell single words apart: "right" and "wait" are equally long and loud. The
# rules express that backchannels are short and that hums are backchannels.
EVIDENCE: tuple[EvidenceRow, ...] = (
    #        measure      low    high  back  inter  noise
    EvidenceRow("span_ms",   450,   540,  -2.0,  2.5,  -0.5),  # continues: a sentence
    EvidenceRow("quiet_ms",  240,   350,   1.0, -2.0,   0.5),  # one word, with a pause longer than
                                                            # the 190 ms in "wait, tell me about"
    EvidenceRow("quiet_ms",   60,   200,   0.5,  0.0,   0.5),  # has probably ended
    EvidenceRow("tone_hz",   720,   540,   2.5, -2.0,  -0.5),  # hummed with closed mouth: "mm-hm"
    # hardly voiced: a cough, clatter
    EvidenceRow("voiced",   0.50,  0.15,  -2.5, -1.5,   2.5),
    # far above the owner's usual level: a shout
    EvidenceRow("louder_db", 5.0,  10.0,  -1.0,  3.0,   0.0),
)  # fmt: skip


class RuleClassifier:
    """Classifies by adding up the evidence of a table."""

    @property
    def schedule(self) -> DecisionSchedule:
        return IN_RULES

    def __init__(self, evidence: tuple[EvidenceRow, ...] = EVIDENCE) -> None:
        self._evidence = evidence
        self.start(np.zeros(0, np.int16))

    def start(self, past: Samples) -> None:
        self._segment = Segment(None)

    def process(self, block: AudioBlock, segment: Segment) -> None:
        self._segment = segment

    def correction(self) -> float:
        return 0.0

    def probabilities(self) -> ClassProbabilities:
        scores = list(PRIOR)
        for row in self._evidence:
            value = getattr(self._segment, row.measure)
            share = min(1.0, max(0.0, (value - row.low) / (row.high - row.low)))
            for i, weight in enumerate(row[3:]):
                scores[i] += share * weight
        weights = [math.exp(score) for score in scores]
        return ClassProbabilities(*(weight / sum(weights) for weight in weights))


class DecisionThreshold(NamedTuple):
    """Thresholds from this age of a segment on, as log odds that are added to the settings'.

    yields   added to `hearing.verdict.interruption`: to drop the answer before the deadline
    resumes  added to `hearing.verdict.backchannel`: to resume before the deadline
    quiet_ms silence required to resume, so that the box does not talk over the owner. It is longer
             than the closure of a "t" or "p" (50 to 100 ms): with 60 it paused twice in one "yes"
    """

    from_ms: int
    yields: float
    resumes: float
    quiet_ms: int


class DecisionSchedule(NamedTuple):
    """When the probabilities of a classifier suffice for a verdict.

    last_doubt  at the deadline the box resumes only if an interruption is less likely than this
    doubt_while_it_sounds
                the same, if the sound goes on: few murmurs are so long, and if this one is, the
                answer can still go on afterwards
    vouches     below this probability of noise the classifier confirms a voice, and a segment is
                kept without speech by the VAD: "stop" and "three" begin with a hiss. 0: the
                classifier separates voices and noises too poorly for that
    """

    moments: tuple[DecisionThreshold, ...]
    last_doubt: float
    doubt_while_it_sounds: float
    vouches: float


# Talking over the owner is worse than a needless pause, and early probabilities are overconfident:
# reverberation, echo and the next syllable are still to come. After 300 ms, waiting changes few
# verdicts. Chosen on the speakers and voices of the tuning set.
IN_NETWORK = DecisionSchedule(
    moments=(
        #     from_ms  yields  resumes  quiet_ms
        DecisionThreshold(   0,     3.0,    2.2,     150),
        DecisionThreshold( 180,     0.4,    1.6,     120),
        DecisionThreshold( 300,    -1.6,    0.8,     100),
        DecisionThreshold( 500,    -1.6,    0.6,     100),
    ),
    last_doubt=0.12,
    doubt_while_it_sounds=0.04,
    vouches=0.9,  # of 116 segments above it none was speech; of 126 above 0.5, 5 were
)  # fmt: skip
IN_RULES = DecisionSchedule(
    moments=(DecisionThreshold(0, -1.3, -1.5, 150),),
    last_doubt=0.35,
    doubt_while_it_sounds=0.35,
    vouches=0.0,
)
# Log odds of a murmur at the threshold of its judge, over which 2 % of the tuning's calls are
# resumed: such that the deadline's rule just resumes.
_AT_THRESHOLD = math.log((1 - IN_NETWORK.last_doubt) / IN_NETWORK.last_doubt)
# The judge's log odds of a noise are lowered by this: to go on over a call is worse than to pause.
_NOISE_DOUBT = 0.5
# The judge is first asked 300 ms after the onset. Until its answer, or until that is late, nothing
# is an interruption: the box is silent meanwhile.
_FIRST_ASKED_MS, _ANSWERED_MS = AGES_MS[0], AGES_MS[0] + 100
# After so much quiet the judge's answer about the whole sound decides as at the deadline.
_ENDED_FOR_GOOD_MS = 150
# A sound that has stopped may have been residual echo, which stops with the box. Before the
# deadline only a sound that was active within this time is an interruption.
STILL_SOUNDS_MS = 100


class VerdictTracker:
    """Follows one segment from its onset to its verdict, and queries the classifier on schedule.

    Once a judge of murmurs, if there is one, has answered, it decides; the classifier does before
    that, if it is very sure, and if the answer is late.
    """

    def __init__(
        self,
        settings: VerdictSettings,
        classifier: SegmentClassifier,
        murmurs: MurmurJudge | None = None,
    ) -> None:
        self._settings = settings
        self._classifier = classifier
        self._murmurs = murmurs

    def start(self, past: Samples) -> None:
        self._classifier.start(past)
        if self._murmurs is not None:
            self._murmurs.start()
        self._next_ms = self._settings.first_ms
        self._opinion: ClassProbabilities | None = None
        self._evidence = NO_EVIDENCE

    def add_evidence(self, evidence: LogOdds) -> None:
        """Set the evidence beside the sound, such as words; it replaces earlier evidence and
        applies until the next segment."""
        self._evidence = evidence

    @property
    def confirms_voice(self) -> bool:
        """Whether the newest opinion confirms a voice; see `DecisionSchedule.vouches`."""
        return self._opinion is not None and self._opinion.noise < self._classifier.schedule.vouches

    def process(
        self,
        block: AudioBlock,
        segment: Segment,
        age_ms: int,
        sound: Callable[[], Samples] | None = None,
    ) -> tuple[ClassProbabilities | None, Judgement | None]:
        """Process a block, `age_ms` after the onset; returns an opinion if due, and any verdict.
        `sound` returns the sound so far, for the judge of murmurs."""
        self._classifier.process(block, segment)
        if self._murmurs is not None and sound is not None:
            self._murmurs.process(age_ms, segment.quiet_ms, sound)
        if age_ms < min(self._next_ms, self._settings.deadline_ms):
            return None, None
        self._next_ms += self._settings.every_ms
        opinion = self._classifier.probabilities()
        awaited = final = False
        if self._murmurs is not None:
            if (judged := self._murmurs.opinion) is not None:
                final = self._murmurs.knows_whole and segment.quiet_ms >= _ENDED_FOR_GOOD_MS
                murmur = judged.murmur + _AT_THRESHOLD + self._classifier.correction()
                opinion = ClassProbabilities.of_log_odds(murmur, judged.noise - _NOISE_DOUBT)
            else:
                awaited = age_ms < min(_ANSWERED_MS, self._settings.deadline_ms)
        if self._evidence is not NO_EVIDENCE:
            opinion = opinion.given(self._evidence)
        self._opinion = opinion
        if awaited:
            age_ms = min(age_ms, _FIRST_ASKED_MS - 1)
        elif final:
            age_ms = max(age_ms, self._settings.deadline_ms)
        verdict = decide(
            opinion, segment.quiet_ms, age_ms, self._settings, self._classifier.schedule
        )
        return opinion, None if awaited and verdict == "interruption" else verdict

    def was_murmur(self, silent_ms: int, quiet_ms: int, sound: Callable[[], Samples]) -> bool:
        """As `MurmurJudge.was_murmur`; False if the words say otherwise. Call it for each block."""
        if self._murmurs is None or self._evidence.interruption > self._evidence.backchannel:
            return False
        return self._murmurs.was_murmur(silent_ms, quiet_ms, sound)


def decide(
    opinion: ClassProbabilities,
    quiet_ms: int,
    age_ms: int,
    settings: VerdictSettings,
    schedule: DecisionSchedule,
) -> Judgement | None:
    """The verdict by these probabilities at this age of the segment; None: wait."""
    threshold = [row for row in schedule.moments if row.from_ms <= age_ms][-1]
    interrupts = _log_odds(opinion.interruption)
    yields = interrupts >= _log_odds(settings.interruption) + threshold.yields
    if yields and quiet_ms < STILL_SOUNDS_MS:
        return "interruption"
    resumed_as: Judgement = "backchannel" if opinion.backchannel >= opinion.noise else "noise"
    resumes = -interrupts >= _log_odds(settings.backchannel) + threshold.resumes
    if resumes and quiet_ms >= threshold.quiet_ms:
        return resumed_as
    if age_ms < settings.deadline_ms:
        return None
    doubt = schedule.last_doubt if quiet_ms >= STILL_SOUNDS_MS else schedule.doubt_while_it_sounds
    return "interruption" if opinion.interruption >= doubt else resumed_as


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -30.0), 30.0)))


def _log_odds(probability: float) -> float:
    clipped = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(clipped / (1 - clipped))
