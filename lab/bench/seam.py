"""`interlude bench seam`: samples lost or repeated at pauses that were taken back.

It plays short knocks and backchannels over the box. For each pause that was resumed it compares the
loudspeaker's track with the synthesised answer.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from appliance.messages.playback import Dropouts, PlaybackPaused, PlaybackResumed
from appliance.pcm import RATE_HZ
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.harness import LEAD, QUIET, BenchHarness
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.script_sounds import make
from lab.sim.seam_measure import Seam, measure_seam
from lab.sim.speech_source import OwnerSound

EVENTS = 100
MOST_TRIES = 6  # limit of sounds, as a multiple of EVENTS: not every sound gives a measurable pause
BEFORE = RATE_HZ // 2  # samples of the track that are read before a pause and after its end
MURMURS = ("mm", "mm-hm", "uh-huh")
KNOCK_MS = 30
KNOCK_PEAK = 0.5  # of full scale: above any threshold that the gate has adapted to


def bench(options: BenchOptions) -> list[FigureTable]:
    """Provoke pauses until `events` of them have been measured."""
    wanted = options.events or EVENTS
    found: list[Seam] = []
    counts = {"said": 0, "pauses": 0, "yielded": 0, "not measurable": 0,
              "beside a dropout": 0}  # fmt: skip

    def act(stage: BenchHarness) -> None:
        rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
        sounds = [knock(options.seed), *(murmur(text) for text in MURMURS)]
        stage.start_talking()
        for _ in range(round(wanted * MOST_TRIES)):
            if len(found) >= wanted:
                break
            _play_sound(stage, rng.choice(sounds), rng, found, counts)
        stage.wait_until(stage.settled, 3.0)

    stage = BenchHarness(QUIET, options.settings, act)
    recording = stage.play()
    volume = options.settings.speaking.volume
    steps = [int(volume * np.abs(np.diff(a.astype(np.int32))).max(initial=0))
             for a in recording.answers.values() if len(a)]  # fmt: skip
    return [_sheet(found, counts, max(steps, default=0), stage.dropouts)]


def knock(seed: int) -> OwnerSound:
    """A decaying burst of noise, as a knock on the table."""
    frames = RATE_HZ * KNOCK_MS // 1000
    noise = np.random.default_rng(seed).uniform(-1, 1, frames) * np.geomspace(1, 0.01, frames)
    samples = np.rint(noise * KNOCK_PEAK * 32767).astype(np.int16)
    return OwnerSound(samples, 0, frames)


def murmur(text: str) -> OwnerSound:
    """A backchannel by espeak-ng."""
    return make(Scene(name="bench"), ScriptedUtterance(say=text, speed=200))


def _play_sound(
    stage: BenchHarness,
    sound: OwnerSound,
    rng: random.Random,
    found: list[Seam],
    counts: dict[str, int],
) -> None:
    """Play one sound over the box; its result is added to `found` and `counts`."""
    if not stage.talking():
        stage.wait_until(stage.settled, 3.0)
        stage.start_talking()
    stage.wait(rng.uniform(0.0, 0.3))
    at = stage.card.now() + LEAD
    stage.add_sound(at, sound)
    counts["said"] += 1
    stage.wait_until(lambda: stage.card.now() > at + sound.end + RATE_HZ // 10, 5.0)
    stage.wait_until(stage.settled, 3.0)
    stage.wait(0.3 + 2 * BEFORE / RATE_HZ)
    pause = next(
        (m for m in stage.messages_since(PlaybackPaused, at) if stage.index(m.index) >= at), None
    )
    if pause is None:
        return
    counts["pauses"] += 1
    resume = next(
        (m for m in stage.messages_since(PlaybackResumed, at) if m.serial == pause.serial), None
    )
    if resume is None:
        counts["yielded"] += 1
        return
    seam = read_seam(stage, pause, resume)
    if any(m.direction == "playback" for m in stage.messages_since(Dropouts, at)):
        counts["beside a dropout"] += 1  # an underrun shifts everything after it
    elif seam is None:
        counts["not measurable"] += 1
    else:
        found.append(seam)


def read_seam(stage: BenchHarness, pause: PlaybackPaused, resume: PlaybackResumed) -> Seam | None:
    """Measure the seam of a resumed pause; None if there is too little sound to measure it."""
    paused, resumed = stage.index(pause.index), stage.index(resume.index)
    first = paused - BEFORE
    track = stage.card.loudspeaker(first, resumed + BEFORE - first)
    return measure_seam(
        track,
        stage.synthesised(pause.turn),
        paused - first,
        resumed - first,
        pause.position,
        pause.position - resume.position,
    )


def _sheet(
    found: list[Seam], counts: dict[str, int], largest_step: int, dropouts: dict[str, int]
) -> FigureTable:
    columns = ("pauses measured", "lost", "repeated", "said again on purpose",
               "largest step at a seam", "in the speech")  # fmt: skip
    sheet = FigureTable("Seam: samples over a pause and what follows it", columns)
    lost, repeated = sum(s.lost_samples for s in found), sum(s.repeated_samples for s in found)
    step = max((s.max_step for s in found), default=0)
    said_again = sum(s.again_samples > 0 for s in found)
    sheet.rows.append((str(len(found)), lost, repeated, said_again, step, largest_step))
    sheet.notes.append(
        f"{counts['said']} sounds caused {counts['pauses']} pauses; {counts['yielded']} were taken "
        f"for an interruption; {counts['not measurable']} fell into silence of the speech itself, "
        f"{counts['beside a dropout']} were near a dropout of playback. "
        "Steps: between neighbouring samples across a seam's two edges, of 32767. "
        f"Dropouts: {dropouts['capture']} of capture, {dropouts['playback']} of playback."
    )
    data: list[dict[str, Any]] = [
        {"lost": s.lost_samples, "repeated": s.repeated_samples, "step": s.max_step} for s in found
    ]
    sheet.events += data
    return sheet
