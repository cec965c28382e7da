"""Plans `interlude bench interruption`: rooms, echoes, noises and sounds, as jobs.

In: the effort, recordings. Out: jobs, in the order in which they are started. Pure.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from appliance.hear.bargein.recordings import RecordingFile, RecordingKind
from lab.bench.interruption_trials import ANSWERED_S, CONVERGED_S, Spec, SynthesisedNoise, TrialRoom
from lab.sim import synthetic_phrases
from lab.sim.people import Clip, Moment
from lab.sim.speech_source import SPEECH_DB
from lab.sim.synthetic_noises import NOISES

Effort = Literal["quick", "default", "full"]
By = Literal["ours", "article"]
BenchPart = Literal["over", "people", "pauses", "article", "moments"]

# Seeds from 1000 on are for benches; nothing is trained or tuned in these rooms.
ROOMS = ((0.2, 1001), (0.4, 1002), (0.7, 1003))
MORE_ROOMS = (*ROOMS, (0.3, 1004), (0.5, 1005))
SNR_DB = 10.0  # of the owner over the kitchen
TELEVISION_DB = -15.0  # against the owner
EACH_S = 6.0  # upper bound of the mean time for one sound: the sound, observation and the gap
MOMENT_S = 9.0  # the longest moment
WORDS_AT_A_TIME = 40  # sounds in a job: short jobs balance the cores and lose little when aborted


@dataclass(frozen=True)
class RoomCondition:
    """Echo and noise around the box. dB against the owner's usual level, `SPEECH_DB`.

    echo_db  None: no echo, as with headphones
    drive    gain into the loudspeaker's tanh; 0: linear
    """

    name: str
    echo_db: float | None = None
    noise: str = "quiet"
    noise_db: float = 0.0
    drive: float = 0.0


QUIET = RoomCondition("quiet")
ECHO = RoomCondition("echo 0 dB", 0.0)
KITCHEN = RoomCondition("kitchen 10 dB SNR", -10.0, "kitchen", -SNR_DB)
LOUD = RoomCondition("echo +10 dB", 10.0)
WITH_MOMENTS = (QUIET, ECHO)
OVER: dict[Effort, tuple[RoomCondition, ...]] = {
    "quick": (QUIET, ECHO, KITCHEN),
    "default": (QUIET, ECHO, KITCHEN, LOUD),
    "full": (QUIET, ECHO, KITCHEN, LOUD, RoomCondition("echo −10 dB", -10.0),
             RoomCondition("echo +15 dB", 15.0),
             RoomCondition("distorting speaker", 0.0, drive=2.0),
             RoomCondition("television −15 dB", 0.0, "television", TELEVISION_DB)),
}  # fmt: skip
PAUSED_KITCHEN = RoomCondition("kitchen 10 dB SNR", 0.0, "kitchen", -SNR_DB)
TELEVISION = RoomCondition("television −15 dB", 0.0, "television", TELEVISION_DB)
PAUSES: dict[Effort, tuple[RoomCondition, ...]] = {"quick": (ECHO, PAUSED_KITCHEN, TELEVISION)}
PAUSES["default"] = (
    *PAUSES["quick"],
    RoomCondition("echo −10 dB", -10.0),
    RoomCondition("echo +10 dB", 10.0),
    RoomCondition("echo +15 dB", 15.0),
)
PAUSES["full"] = (
    *PAUSES["default"],
    RoomCondition("television −25 dB", 0.0, "television", -25.0),
    RoomCondition("kitchen 20 dB SNR", 0.0, "kitchen", -20.0),
    RoomCondition("distorting speaker", 0.0, drive=2.0),
)
SOUNDS: dict[Effort, int] = {"quick": 25, "default": 120, "full": 400}  # per room and condition
SILENT_S: dict[Effort, float] = {"quick": 60.0, "default": 600.0, "full": 3600.0}  # per room
HOUR_S: dict[Effort, float] = SILENT_S | {"default": 1200.0}  # for `ECHO`: an hour in three rooms
ARTICLE_SOUNDS: dict[Effort, int] = {"quick": 10, "default": 40, "full": 160}
ARTICLE_S: dict[Effort, float] = {"quick": 40.0, "default": 300.0, "full": 1200.0}
# (class, recorded, number of a hundred sounds). Without recordings synthetic sounds replace them.
MIXTURE: tuple[tuple[RecordingKind, bool, int], ...] = (
    ("backchannel", True, 26), ("interruption", True, 26), ("backchannel", False, 16),
    ("interruption", False, 16), ("noise", True, 4), ("noise", False, 12),
)  # fmt: skip


@dataclass(frozen=True)
class TrialJob:
    """One device in one room for a limited time; independent of all other jobs."""

    part: BenchPart
    by: By
    condition: str
    place: TrialRoom
    specs: tuple[Spec, ...]
    seconds: float
    seed: int
    noise: tuple[RecordingFile, ...] = ()
    question: synthetic_phrases.Phrase | None = None


def place(condition: RoomCondition, room: tuple[float, int]) -> TrialRoom:
    rt60_s, seed = room
    echo_db = None if condition.echo_db is None else SPEECH_DB + condition.echo_db
    name = f"RT60 {rt60_s:g} s"
    if condition.noise == "quiet":
        return TrialRoom(name, rt60_s, seed, echo_db, drive=condition.drive)
    noise_db = SPEECH_DB + condition.noise_db
    return TrialRoom(name, rt60_s, seed, echo_db, condition.noise, noise_db, condition.drive)


def plan(
    effort: Effort, sources: Sequence[RecordingFile], seed: int, events: int | None = None,
    language: str = "en", people: Sequence[Clip] = (), moments: Sequence[Moment] = (),
) -> list[TrialJob]:  # fmt: skip
    """All jobs: first the sounds over the box, then real people, then silences, then the article's
    recipe, then moments, each in a session of its own: of another person, who may be louder.

    `events`: sounds per room and condition, with silences in proportion; None: as many as the
    effort has. `language`: of the words over the box; other than English they are all synthetic, as
    the recordings are English. `people`: each is played in every room of the first three
    conditions, or with `events` so many of them in each. `moments`: likewise, in `WITH_MOMENTS`;
    only the effort "full" has more than one room for them."""
    share = 1.0 if events is None else events / SOUNDS[effort]
    rooms = MORE_ROOMS if effort == "full" else ROOMS
    maker = _JobMaker(sources, seed, language)
    jobs: list[TrialJob] = []
    for condition in OVER[effort]:
        for room in rooms:
            chunks = _chunks(maker.sounds(round(SOUNDS[effort] * share)))
            jobs += [maker.job("over", "ours", condition, room, specs) for specs in chunks]
    for condition in OVER["quick"]:
        for room in rooms:
            chunks = _chunks(maker.some(people, events))
            jobs += [maker.job("people", "ours", condition, room, specs) for specs in chunks]
    for condition in PAUSES[effort]:
        silent_s = (HOUR_S if condition is ECHO else SILENT_S)[effort] * share
        jobs += [maker.job("pauses", "ours", condition, room, (), silent_s) for room in rooms]
    for condition in (QUIET, KITCHEN, ECHO):
        for room in ROOMS:
            count = 0 if condition is ECHO else max(1, round(ARTICLE_SOUNDS[effort] * share))
            specs = maker.sounds(count)
            echo_db = condition.echo_db if condition is ECHO else None
            adapted = RoomCondition(condition.name, echo_db, condition.noise, condition.noise_db)
            jobs.append(
                maker.job("article", "article", adapted, room, specs, ARTICLE_S[effort] * share)
            )
    for condition in WITH_MOMENTS:
        for room in ROOMS if effort == "full" else ROOMS[1:2]:
            jobs += [
                maker.job("moments", "ours", condition, room, (moment,),
                          CONVERGED_S + EACH_S + MOMENT_S)
                for moment in maker.some(moments, events)
            ]  # fmt: skip
    return jobs


class _JobMaker:
    """Numbers the jobs and assigns sounds; no recording is used twice before all were used once."""

    def __init__(self, sources: Sequence[RecordingFile], seed: int, language: str) -> None:
        self._rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
        self._seed = seed * 100_000
        self._language = language
        words = ("backchannel", "interruption")
        self._sources = [s for s in sources if language == "en" or s.kind not in words]
        self._unused: dict[str, list[RecordingFile]] = {}

    def job(
        self, part: BenchPart, by: By, condition: RoomCondition, room: tuple[float, int],
        specs: tuple[Spec, ...], seconds: float = 0.0,
    ) -> TrialJob:  # fmt: skip
        self._seed += 1
        seconds = max(seconds, CONVERGED_S + EACH_S * len(specs)) if specs else seconds
        question = None
        if by == "ours":
            question = synthetic_phrases.question(self._rng)
            seconds += ANSWERED_S
        return TrialJob(
            part,
            by,
            condition.name,
            place(condition, room),
            specs,
            seconds,
            self._seed,
            self._noise(condition.noise),
            question,
        )

    def sounds(self, count: int) -> tuple[Spec, ...]:
        """`count` sounds in the proportions of `MIXTURE`, shuffled."""
        sounds: list[Spec] = []
        for kind, real, share in MIXTURE:
            wanted = max(1, round(count * share / 100))
            for _ in range(wanted):
                spec = self._recorded(kind) if real else None
                sounds.append(spec or self._synthetic(kind))
        self._rng.shuffle(sounds)
        return tuple(sounds[:count])

    def some(self, people: Sequence[Clip | Moment], count: int | None) -> tuple[Spec, ...]:
        """All of `people`, or `count` of them, in an order by chance."""
        return tuple(self._rng.sample(people, min(count or len(people), len(people))))

    def _recorded(self, kind: RecordingKind) -> RecordingFile | None:
        if not self._unused.get(kind):
            self._unused[kind] = [source for source in self._sources if source.kind == kind]
            self._rng.shuffle(self._unused[kind])
        return self._unused[kind].pop() if self._unused[kind] else None

    def _synthetic(self, kind: RecordingKind) -> Spec:
        if kind == "noise":
            return SynthesisedNoise(self._rng.choice(list(NOISES)), self._rng.randrange(1_000_000))
        return synthetic_phrases.phrase(kind, self._rng, language=self._language)

    def _noise(self, name: str) -> tuple[RecordingFile, ...]:
        """The recordings of this noise; folders `long` and `babble` are television, too."""
        wanted = {"kitchen": "background", "television": "television"}.get(name)
        return tuple(source for source in self._sources if source.kind == wanted)


def _chunks(sounds: tuple[Spec, ...]) -> list[tuple[Spec, ...]]:
    return [sounds[at : at + WORDS_AT_A_TIME] for at in range(0, len(sounds), WORDS_AT_A_TIME)]
