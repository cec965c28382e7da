"""Enrolment: fits a correction of the verdict to the owner's recordings, or says why not. Pure.

In: takes (int16 at 16 kHz, with the class that was asked for), the box's settings, its network.
Out: an adaptation and how much it helps, by leave-one-out over the takes. Every take goes through
`HearingPipeline` itself, so that the network gets the same input as in operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from appliance.errors import InterludeError
from appliance.hear.bargein import adaptation
from appliance.hear.bargein.adaptation import Adaptation, NetworkOutputs
from appliance.hear.bargein.classifier import IN_RULES, ClassProbabilities, DecisionSchedule
from appliance.hear.bargein.network import NetworkClassifier, VerdictNetwork
from appliance.hear.bargein.segment import Segment
from appliance.hear.onset.frontend import AudioBlock
from appliance.hear.pipeline import HearingPipeline
from appliance.messages.enrolling import TakeFault
from appliance.messages.hearing import Judgement, Verdict
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples, to_int16
from appliance.settings import HearingSettings

KINDS: tuple[Judgement, ...] = ("backchannel", "interruption", "noise")
FEWEST = 3  # usable takes of each class; leave-one-out needs that many
SHORTEST_MS, LONGEST_MS = 80, 1200
CLEAREST_DB = 12.0  # lowest peak of a take above its own noise; else the noise would be learnt
LOUDEST = 32_700
CLIPPED = 40  # more samples than that at full scale: the take is clipped
FIRST_MS = 200  # earlier outputs are not learnt from
AGREE = 0.75  # share of takes that must be right after fitting to them; else they contradict
# Variants in which each take is processed, since sound varies in operation: gain dB, noise dBFS.
WAYS = ((0.0, None), (-9.0, -62.0), (4.0, -50.0))
_LEAD_FRAMES, _TRAIL_FRAMES = 6 * RATE_HZ // 10, RATE_HZ


class EnrolmentError(InterludeError, ValueError):
    """The recordings are unusable for learning. `fault`: that of the recording named `take`."""

    exit_code = 65  # EX_DATAERR

    def __init__(
        self, problem: str, remedy: str = "", *, fault: TakeFault | None = None, take: str = ""
    ) -> None:
        super().__init__(problem, remedy)
        self.fault = fault
        self.take = take


@dataclass(frozen=True)
class EnrolmentRecording:
    """One recording: its name, its class, and its sound with some silence around it."""

    name: str
    kind: Judgement
    samples: Samples


@dataclass(frozen=True)
class ScoredRecording:
    """The network's outputs for all variants of a take, from 200 ms after its onset on."""

    take: EnrolmentRecording
    answers: NetworkOutputs


@dataclass(frozen=True)
class EnrolmentResult:
    """The result. `before` and `after`: shares of takes classified correctly, and mean log loss, by
    the shipped network and by a correction fitted to all other takes."""

    adaptation: Adaptation
    takes: int
    before: float
    after: float
    loss_before: float
    loss_after: float

    @property
    def helps(self) -> bool:
        """Whether to use the correction. If all takes were right before, it can only do harm."""
        better = self.loss_after < self.loss_before and self.after >= self.before
        return better and self.before < 1.0


def learn(scored: Sequence[ScoredRecording], others: NetworkOutputs, model: str) -> EnrolmentResult:
    """Fit the correction, and check it by leave-one-out. Raises EnrolmentError for too few takes of
    a class, or takes that contradict each other."""
    for kind in KINDS[:2]:
        count = sum(h.take.kind == kind for h in scored)
        if count < FEWEST:
            raise EnrolmentError(
                f"There are {count or 'no'} usable recordings for {kind}; {FEWEST} are needed.",
                "Say each word again, clearly, with a pause before and after it.",
            )
    fitted = _fit(scored, others, model)
    agreeing = np.mean([judged_right(h, fitted) for h in scored])
    if agreeing < AGREE:
        worst = min(scored, key=lambda h: likelihood(h, fitted))
        raise EnrolmentError(
            "The recordings contradict each other: backchannels and interruptions sound alike.",
            f"`{worst.take.name}` fits least; are all of them in the right place?",
            fault="unlike",
            take=worst.take.name,
        )
    left_out = [_fit([o for o in scored if o is not h], others, model) for h in scored]
    return EnrolmentResult(
        fitted,
        len(scored),
        float(np.mean([judged_right(h, None) for h in scored])),
        float(np.mean([judged_right(h, a) for h, a in zip(scored, left_out, strict=True)])),
        float(np.mean([-np.log(likelihood(h, None)) for h in scored])),
        float(np.mean([-np.log(likelihood(h, a)) for h, a in zip(scored, left_out, strict=True)])),
    )


def score(
    take: EnrolmentRecording, settings: HearingSettings, network: VerdictNetwork
) -> ScoredRecording:
    """The network's outputs for a take. Raises EnrolmentError if the take is unusable."""
    _check(take)
    outputs = []
    for gain_db, noise_db in WAYS:
        collector = _OutputCollector(network)
        hearing = HearingPipeline(_undecided(settings), classifier=collector)
        hearing.answering = True
        sound = _padded(take.samples, gain_db, noise_db)
        silence = np.zeros(BLOCK_FRAMES, np.int16)
        for at in range(0, len(sound) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
            events = hearing.process(sound[at : at + BLOCK_FRAMES], silence, at)
            if any(isinstance(event, Verdict) for event in events):
                break  # the first segment is over: a third of the sound needs no processing
        outputs += collector.answers
    if not outputs:
        raise _unusable(take, "no-word", "no word was heard in it.", "Speak a little louder.")
    return ScoredRecording(
        take, NetworkOutputs(np.array([a for a, _ in outputs]), np.array([e for _, e in outputs]))
    )


class _OutputCollector:
    """A classifier that collects the network's outputs for a segment and never decides."""

    def __init__(self, network: VerdictNetwork) -> None:
        self._classifier = NetworkClassifier(network)
        self.answers: list[tuple[adaptation.Floats, adaptation.Floats]] = []
        self._blocks = 0

    @property
    def schedule(self) -> DecisionSchedule:
        return IN_RULES

    def start(self, past: Samples) -> None:
        self._blocks = 0
        self._classifier.start(past)

    def process(self, block: AudioBlock, segment: Segment) -> None:
        self._blocks += 1
        self._classifier.process(block, segment)

    def correction(self) -> float:
        return 0.0

    def probabilities(self) -> ClassProbabilities:
        answer = self._classifier.newest_output()
        late = self._blocks * BLOCK_FRAMES * 1000 // RATE_HZ >= FIRST_MS
        if answer is not None and late:
            self.answers.append((answer.log_odds, answer.embedding))
        return ClassProbabilities(0.4, 0.3, 0.3)


def _undecided(settings: HearingSettings) -> HearingSettings:
    """The settings without a verdict before the deadline."""
    verdict = msgspec.structs.replace(settings.verdict, interruption=1.0, backchannel=1.0)
    return msgspec.structs.replace(settings, verdict=verdict)


def _check(take: EnrolmentRecording) -> None:
    """Check the level and length of a take. Raises EnrolmentError."""
    samples = take.samples.astype(np.float64)
    blocks = samples[: len(samples) // BLOCK_FRAMES * BLOCK_FRAMES].reshape(-1, BLOCK_FRAMES)
    if not len(blocks) or np.abs(samples).max() < 100:
        raise _unusable(take, "silent", "is silent.", "Is the microphone on?")
    if np.count_nonzero(np.abs(samples) >= LOUDEST) > CLIPPED:
        raise _unusable(take, "clipped", "is clipped.", "Speak from a little further away.")
    energies_db = 10 * np.log10(np.mean(np.square(blocks), axis=1) + 1.0)
    peak_db, floor_db = float(energies_db.max()), np.percentile(energies_db, 10)
    if peak_db - floor_db < CLEAREST_DB:
        raise _unusable(take, "noisy", "is too noisy.", "Record where it is quieter.")
    loud = np.flatnonzero(energies_db > max(floor_db + 8, peak_db - 25))
    length_ms = (loud[-1] - loud[0] + 1) * BLOCK_FRAMES * 1000 // RATE_HZ
    if length_ms < SHORTEST_MS:
        raise _unusable(take, "short", f"is over too soon ({length_ms} ms).", "Say a word.")
    if length_ms > LONGEST_MS:
        problem = f"is too long ({length_ms} ms)."
        raise _unusable(take, "long", problem, "Say one word, with silence around it.")


def _unusable(
    take: EnrolmentRecording, fault: TakeFault, problem: str, remedy: str
) -> EnrolmentError:
    return EnrolmentError(f"{take.name}: {problem}", remedy, fault=fault, take=take.name)


def _padded(samples: Samples, gain_db: float, noise_db: float | None) -> Samples:
    """The take between stretches of its room's noise, amplified, with noise of `noise_db` dBFS."""
    blocks = samples[: len(samples) // BLOCK_FRAMES * BLOCK_FRAMES].reshape(-1, BLOCK_FRAMES)
    rms = np.sqrt(np.mean(np.square(blocks.astype(np.float64)), axis=1))
    frames = _LEAD_FRAMES + len(samples) + _TRAIL_FRAMES
    rng = np.random.default_rng(len(samples))
    room = rng.standard_normal(frames) * max(3.0, float(np.percentile(rms, 10)))
    room[_LEAD_FRAMES : _LEAD_FRAMES + len(samples)] = samples
    room *= 10 ** (gain_db / 20)
    if noise_db is not None:
        room += rng.standard_normal(frames) * 32768 * 10 ** (noise_db / 20)
    return to_int16(room)


def _fit(scored: Sequence[ScoredRecording], others: NetworkOutputs, model: str) -> Adaptation:
    all_answers = NetworkOutputs(
        np.concatenate([h.answers.log_odds for h in scored]),
        np.concatenate([h.answers.embedding for h in scored]),
    )
    kind: npt.NDArray[np.int_] = np.concatenate(
        [np.full(len(h.answers.log_odds), KINDS.index(h.take.kind)) for h in scored]
    )
    return adaptation.fit(all_answers, kind, others, model)


def _mean_odds(scored: ScoredRecording, correction: Adaptation | None) -> npt.NDArray[np.float64]:
    answers = scored.answers
    log_odds = (
        answers.log_odds
        if correction is None
        else correction.adapted(answers.log_odds, answers.embedding)
    )
    mean: npt.NDArray[np.float64] = adaptation.softmax(log_odds.astype(np.float64)).mean(axis=0)
    return mean


def judged_right(scored: ScoredRecording, correction: Adaptation | None) -> bool:
    """Whether the box would decide correctly between continuing and stopping its answer."""
    interrupts = _mean_odds(scored, correction)[1] >= 0.5
    return bool(interrupts == (scored.take.kind == "interruption"))


def likelihood(scored: ScoredRecording, correction: Adaptation | None) -> float:
    return max(1e-6, float(_mean_odds(scored, correction)[KINDS.index(scored.take.kind)]))
