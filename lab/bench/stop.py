"""`interlude bench stop`: the time from the owner's first sample to the box's last audible one.

Words are played at random moments while the box talks, in a quiet room without and with an echo.
The article's recipe gets the same sounds, in a process of its own on a card of its own.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from appliance.messages.hearing import Onset
from appliance.messages.playback import PlaybackPaused, PlaybackStopped
from appliance.pcm import RATE_HZ
from appliance.settings import Settings
from lab.bench import bench_speech
from lab.bench.bench_words import OwnerWord, RecordedWords, synthetic
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.harness import ECHO, QUIET, TALK, BenchHarness
from lab.bench.stop_figures import CLIP_FRAMES, StopMeasurement, read_stop, sheets
from lab.sim import acoustics
from lab.sim.alsa_plugin import alsa_environment
from lab.sim.card_events import CardEventKind, StreamDirection
from lab.sim.scene import Room
from lab.sim.simulated_card import SaidTooLate, SoundCard

EVENTS = 60  # of each kind of word, in each room
MOST_TRIES = 1.7  # limit of all tries, as a multiple of EVENTS: words left out are repeated
APART = round(2.5 * RATE_HZ)  # between the end of a word and the next
AFTER_S = 1.3  # how long the box is recorded after a word's end
CONVERGED_S = 8.0


def bench(options: BenchOptions) -> list[FigureTable]:
    """Both rooms, with synthetic words and, if there are recordings, real ones."""
    found, dropouts = {}, []
    clips = None
    for name, room in (("no echo", QUIET), ("echo −30 dBFS", ECHO)):
        words, _ = options.recorded()
        clips = RecordedWords(words, options.seed) if words else None
        found[name], dropped = in_room(room, options, clips)
        dropouts.append(
            f"{name}: {dropped['capture']} of capture, {dropped['playback']} of playback"
        )
    tables = sheets(found, clips.noisy if clips else None)
    tables[0].notes.append(f"Dropouts of ours, {'; '.join(dropouts)}.")
    return tables


def in_room(
    room: Room,
    options: BenchOptions,
    clips: RecordedWords | None,
    converged_s: float = CONVERGED_S,
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The events of one room in the form of the JSON, and the box's dropouts by direction.
    `converged_s`: talking time before the first word, in which the canceller converges."""
    events: list[dict[str, Any]] = []
    with _article(room, options.settings) as article_card:

        def act(stage: BenchHarness) -> None:
            stage.start_talking()
            stage.wait(converged_s)
            _interrupt(stage, article_card, options, clips, events)

        stage = BenchHarness(room, options.settings, act, others=(article_card,))
        stage.play()
    return events, stage.dropouts


@contextlib.contextmanager
def _article(room: Room, settings: Settings) -> Iterator[SoundCard]:
    """Run the article's recipe, with the box's voice, on a card of its own. Yields the card."""
    memory = Path("/dev/shm")  # noqa: S108 -- made by mkdtemp; a card's file needs no disk
    folder = Path(tempfile.mkdtemp(prefix="interlude-", dir=memory if memory.is_dir() else None))
    try:
        bench_speech.synthesised(settings, TALK).tofile(folder / "answer")
        echo = None
        if room.echo_db is not None:
            echo = acoustics.impulse_response(
                room.rt60_s, rate_hz=RATE_HZ, echo_db=room.echo_db, seed=room.seed
            )
        delay = round(room.delay_ms * RATE_HZ / 1000)
        with SoundCard.create(folder / "card", RATE_HZ, echo=echo, echo_delay=delay) as card:
            environment = os.environ | alsa_environment(folder, {"sim": card.path})
            command = [sys.executable, "-m", "lab.bench.article", "sim", str(folder / "answer")]
            child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)
            try:
                yield card
            finally:
                child.kill()
                child.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _interrupt(
    stage: BenchHarness,
    article_card: SoundCard,
    options: BenchOptions,
    clips: RecordedWords | None,
    events: list[dict[str, Any]],
) -> None:
    """Play words over the box until there are enough of each kind."""
    rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
    wanted = options.events or EVENTS
    sources = {"synthetic": synthetic(options.seed)} | ({"real": iter(clips)} if clips else {})
    for _ in range(round(wanted * MOST_TRIES) * len(sources)):
        missing = [kind for kind in sources if _count(events, kind) < wanted]
        if not missing:
            return
        word = next(sources[rng.choice(missing)], None)
        if word is not None:
            events += _event(stage, article_card, word, rng)


def _count(events: list[dict[str, Any]], kind: str) -> int:
    return sum(e["word"] == kind and e["by"] == "ours" and not e["left_out"] for e in events)


def _event(
    stage: BenchHarness, article_card: SoundCard, word: OwnerWord, rng: random.Random
) -> Iterator[dict[str, Any]]:
    """Play one word over the box; yields the event of ours and of the article."""
    try:
        at, onset = stage.add_over_talk(word.sound, rng)
    except SaidTooLate:  # this process was delayed: the start of the word was lost
        stage.wait(2.0)
        return
    end = at + word.sound.end
    stage.wait_until(lambda: stage.card.now() > end + round(AFTER_S * RATE_HZ), 30.0)
    stage.wait_until(stage.settled, 3.0)
    ours = measure_stop(stage, onset)
    article = _measure_article(article_card, article_card.index_of(stage.card.time_of(onset)))
    for by, measurement in (("ours", ours), ("article", article)):
        yield {
            "by": by,
            "word": word.kind,
            "name": word.name,
            "click": word.click,
        } | measurement.as_data()
    if not stage.talking():
        stage.start_talking()
    stage.wait_until(lambda: stage.card.now() > end + APART, 5.0)


def measure_stop(stage: BenchHarness, onset: int) -> StopMeasurement:
    """Measure the box's stop for a sound whose true onset is card index `onset`."""
    since = onset - RATE_HZ
    ends: dict[int, int] = {
        stage.index(message.index): 0 for message in stage.messages_since(PlaybackStopped, since)
    }
    ends |= {
        stage.index(message.index): message.serial
        for message in stage.messages_since(PlaybackPaused, since)
    }
    measurement = _measure(stage.card, onset, sorted(ends))
    serial = ends.get(measurement.silent)
    for message in stage.messages_since(Onset, since):
        if message.serial == serial and message.decided:
            measurement.decided = stage.index(message.decided) - onset
    return measurement


def _measure_article(card: SoundCard, onset: int) -> StopMeasurement:
    """Measure the article's stop: it stops by no longer writing, and the card logs the underrun."""
    underruns = [
        e.index
        for e in card.events()
        if e.stream == StreamDirection.PLAYBACK and e.kind == CardEventKind.XRUN
    ]
    return _measure(card, onset, underruns)


def _measure(card: SoundCard, onset: int, silent: list[int]) -> StopMeasurement:
    first = onset - CLIP_FRAMES
    track = card.loudspeaker(first, card.now() - first)
    return read_stop(track, CLIP_FRAMES, [index - first for index in silent]).moved(first)
