"""Runs the jobs of the interruption bench, one process per core, and yields the results.

The processes are niced, so that other work on the machine goes first.
"""

from __future__ import annotations

import concurrent.futures
import functools
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Sequence

import numpy as np

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import Settings
from appliance.voice.chime import opening
from lab.bench import bench_speech
from lab.bench.article_device import ArticleDevice
from lab.bench.interruption_plan import TrialJob
from lab.bench.interruption_trials import (
    ANSWERED_S,
    JobResult,
    TrialRoom,
    in_room,
    play,
    through_the_room,
)
from lab.bench.simulated_room import SimulatedBox, SimulatedDevice
from lab.sim import acoustics, corpus, synthetic_phrases
from lab.sim.corpus import Floats
from lab.sim.speech_source import scaled

NICE = 10
NOISE_S = 60.0
TALK_S = 1200.0  # limit of the synthesised talk, which is then looped
ANSWER_S = 40.0  # length of the answer of the article's recipe
WATCHED_S = 90.0  # used at most of each recording of noise

RunJob = Callable[[TrialJob, Settings], JobResult]


def run_job(job: TrialJob, settings: Settings) -> JobResult:
    """Run one job in this process."""
    noise, problems = noise_of(job.place, job.noise)
    device: SimulatedDevice
    if job.by == "ours":
        talk = bench_speech.talk(settings, min(job.seconds, TALK_S), job.seed)
        first_sample = 0 if job.question is None else round(ANSWERED_S * RATE_HZ)
        startup_sound = opening() if settings.speaking.chime else None
        device = SimulatedBox(talk, settings, asked=first_sample, opening=startup_sound)
    else:
        device = ArticleDevice(bench_speech.talk(settings, ANSWER_S, job.seed))
    result = play(device, job.place, noise, job.specs, job.seed, job.seconds, job.question)
    result.problems += problems
    return result


def run_jobs(
    jobs: Sequence[TrialJob], settings: Settings, processes: int, run: RunJob = run_job
) -> Generator[tuple[TrialJob, JobResult]]:
    """Yield the jobs with their results as they finish. Closing it ends the processes. `run`: a
    function of a module, or a `functools.partial` of one."""
    if processes <= 1:
        for job in jobs:
            yield job, run(job, settings)
        return
    spawn = multiprocessing.get_context("spawn")
    pool = concurrent.futures.ProcessPoolExecutor(processes, spawn, initializer=_init_worker)
    try:
        job_of = {pool.submit(run, job, settings): job for job in jobs}
        for done in concurrent.futures.as_completed(job_of):
            yield job_of[done], done.result()
    finally:
        children = multiprocessing.active_children()
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.terminate()


def _init_worker() -> None:
    """Initialise a worker: lower its priority, and ignore Ctrl-C, which its parent handles."""
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def noise_of(place: TrialRoom, sources: tuple[RecordingFile, ...]) -> tuple[Samples, list[str]]:
    """The room's continuous noise, and a sentence for each recording that could not be used."""
    if place.noise == "quiet":
        quiet = acoustics.noise("white", 10 * RATE_HZ, level_db=place.noise_db, rate_hz=RATE_HZ,
                                seed=place.seed)  # fmt: skip
        return quiet, []
    wave, problems = _recordings(sources)
    if wave is None and place.noise == "kitchen":
        kitchen = acoustics.noise("kitchen", round(NOISE_S * RATE_HZ), level_db=place.noise_db,
                                  rate_hz=RATE_HZ, seed=place.seed)  # fmt: skip
        return kitchen, problems
    if wave is None:
        wave = _television(place.seed)
    if place.noise == "television":
        wave = in_room(wave, through_the_room(place))
    return scaled(wave, 0, len(wave), place.noise_db), problems


def _recordings(sources: tuple[RecordingFile, ...]) -> tuple[Floats | None, list[str]]:
    waves, problems = [], []
    for source in sources:
        try:
            wave = corpus.load(source).samples[: round(WATCHED_S * RATE_HZ)]
        except InterludeError as error:
            problems.append(str(error))
            continue
        waves.append(wave / np.float32(np.sqrt(np.mean(np.square(wave)))))
    return (np.concatenate(waves) if waves else None), problems


@functools.cache
def _television(seed: int) -> Floats:
    """Stands for a television's sound: the box's sentences by espeak-ng in held-out voices."""
    speech = bench_speech.espeak_talk(
        NOISE_S, seed, voices=tuple(f"en-gb+{v}" for v in synthetic_phrases.HELD_OUT)
    )
    wave: Floats = (speech / 32768).astype(np.float32)
    return wave
