"""`interlude bench recognise`: the recognition of words over the box and of wake words.

It runs the recognisers installed on this machine in this process, on sound without echo.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator

import msgspec
import numpy as np

from appliance.errors import InterludeError
from appliance.hear.bargein import recordings
from appliance.hear.bargein.recordings import RecordingKind
from appliance.hear.words import backends, microwakeword_backend, phrases
from appliance.hear.words.interfaces import WakeWordSpotter
from appliance.pcm import RATE_HZ, Samples, to_int16
from lab.bench.benches import BenchError, BenchOptions, FigureTable
from lab.sim import acoustics, corpus
from lab.sim import synthetic_phrases as said
from lab.sim.corpus import SoundClip

EVENTS = 120  # clips of each class and origin
AGES_MS = (300, 500, 700)  # after the onset; the last is the verdict's deadline
REPEAT_AGES_MS = (700, 1100, 1500)  # "what did you say" takes 1 s; it counts at its end
BEFORE_FRAMES = RATE_HZ // 5
LEVEL_DB = -26.0
ROOM_DB = -70.0  # level of a quiet room's noise
SNR_DB = 10.0
KINDS = ("carry_on", "yield", "stop", "repeat", "other")
SPELT = {"okay nabu": "okay nahboo"}  # spelling with which espeak-ng pronounces it right
_STEP = 480  # 30 ms, the chunk size of the process `words`


def bench(options: BenchOptions) -> list[FigureTable]:
    """A table of the recognised word lists by class and age, and one of the wake words."""
    return [_words(options), _wake_words(options)]


def _words(options: BenchOptions) -> FigureTable:
    recogniser = backends.recogniser(options.settings)
    if recogniser is None:
        raise BenchError("No recogniser of words is installed.", "`pip install pocketsphinx`.")
    lists = options.settings.hearing.words
    title = f"Words by {recogniser.name}: % of clips understood as of each list"
    sheet = FigureTable(title, ("clips", "age ms", *KINDS, "nothing", "n", "CPU ms"), names=2)
    for label, ages_ms, clips in _clips(options):
        for age_ms in ages_ms:
            counts: Counter[str] = Counter()
            cpu_s = time.process_time()
            for clip in clips:
                recogniser.start()
                recogniser.process(_segment(clip, age_ms))
                text = recogniser.hypothesis().text
                counts[phrases.kind_of(text, lists) if text else "nothing"] += 1
            cpu_ms = 1000 * (time.process_time() - cpu_s) / len(clips)
            shares = [round(100 * counts[name] / len(clips), 1) for name in (*KINDS, "nothing")]
            sheet.rows.append((label, age_ms, *shares, len(clips), round(cpu_ms, 1)))
    sheet.notes.append(
        "Recorded words have their recording's noise; phrases by espeak-ng are clean. Recorded "
        "interruptions are words that are on no list: the right result for them is `other`."
    )
    return sheet


def _wake_words(options: BenchOptions) -> FigureTable:
    columns = (
        "wake word",
        "by",
        "clean %",
        f"at {SNR_DB:.0f} dB SNR %",
        "late ms p50",
        "false wakes",
    )
    sheet = FigureTable("Wake words, synthetic voices", columns, names=2)
    other_words = _recordings(options)
    count = max(5, (options.events or EVENTS) // 4)
    own = options.settings.hearing.wake.phrase
    for phrase in dict.fromkeys((own, *microwakeword_backend.PHRASES)):
        spotter = _spotter(options, phrase)
        if spotter is None:
            continue
        rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
        hits, delays_ms = {0.0: 0, SNR_DB: 0}, []
        for number in range(count):
            voice = f"{rng.choice(said.ACCENTS)}+{rng.choice(said.HELD_OUT)}"
            speed, pitch = rng.randrange(130, 190, 5), rng.randrange(20, 80, 5)
            text = SPELT.get(phrase, phrase)
            clip = said.spoken(said.Phrase("interruption", text, voice, speed, pitch))
            for snr_db in hits:
                detections = _detections(spotter, _in_noise(clip, snr_db, number))
                hits[snr_db] += bool(detections)
                if detections and not snr_db:
                    delays_ms.append(
                        1000 * (detections[0] - RATE_HZ - (clip.end - clip.onset)) / RATE_HZ
                    )
        false_wakes = len(_detections(spotter, other_words)) if len(other_words) else "–"
        shares = [round(100 * hit / count) for hit in hits.values()]
        sheet.rows.append(
            (
                phrase,
                spotter.name,
                *shares,
                round(float(np.median(delays_ms))) if delays_ms else "–",
                false_wakes,
            )
        )
    hours = len(other_words) / RATE_HZ / 3600
    sheet.notes.append(
        f"{count} voices that are in no training set, in kitchen-like noise; false wakes in "
        f"{hours:.1f} hours of recordings of other words."
    )
    return sheet


def _spotter(options: BenchOptions, phrase: str) -> WakeWordSpotter | None:
    wake = msgspec.structs.replace(options.settings.hearing.wake, phrase=phrase)
    hearing = msgspec.structs.replace(options.settings.hearing, wake=wake)
    try:
        return backends.wake_word_spotter(
            msgspec.structs.replace(options.settings, hearing=hearing)
        )
    except InterludeError:
        return None  # a phrase that no installed spotter supports has no row


def _clips(options: BenchOptions) -> Iterator[tuple[str, tuple[int, ...], list[SoundClip]]]:
    """Recordings, if any, then phrases by espeak-ng: a row's name, its ages, and at most `events`
    random clips."""
    count = options.events or EVENTS
    sources, _ = options.recorded()
    kinds: tuple[RecordingKind, ...] = ("backchannel", "interruption")
    for kind in kinds:
        of_kind = [source for source in sources if source.kind == kind]
        random.Random(options.seed).shuffle(of_kind)  # noqa: S311 -- chance, not secrecy
        if clips := _loaded(of_kind, count):
            yield f"real {kind}s", AGES_MS, clips
    for kind in kinds:
        rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
        spoken = [said.spoken(said.phrase(kind, rng)) for _ in range(count)]
        yield f"synthetic {kind}s", AGES_MS, spoken
    rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
    requests = [said.spoken(said.request_to_repeat(rng)) for _ in range(count)]
    yield "synthetic requests to repeat", REPEAT_AGES_MS, requests


def _loaded(sources: list[recordings.RecordingFile], count: int) -> list[SoundClip]:
    clips: list[SoundClip] = []
    for source in sources:
        if len(clips) == count:
            break
        try:
            clips.append(corpus.load(source))
        except InterludeError:
            continue  # silent or clipped
    return clips


def _segment(clip: SoundClip, age_ms: int) -> Samples:
    """The clip up to that age, with a little sound before the onset, as in the ring `near`."""
    sound = clip.at(LEVEL_DB)
    padded = np.concatenate([np.zeros(BEFORE_FRAMES), sound])
    end = clip.onset + BEFORE_FRAMES + age_ms * RATE_HZ // 1000
    segment = padded[clip.onset : min(end, len(padded))]
    segment += acoustics.noise("white", len(segment), level_db=ROOM_DB, rate_hz=RATE_HZ)
    return to_int16(segment)


def _in_noise(clip: SoundClip, snr_db: float, seed: int) -> Samples:
    sound = clip.at(LEVEL_DB)[clip.onset : clip.end]
    out = np.concatenate([np.zeros(RATE_HZ), sound, np.zeros(RATE_HZ // 2)])
    level_db = LEVEL_DB - snr_db if snr_db else ROOM_DB
    out += acoustics.noise("kitchen", len(out), level_db=level_db, rate_hz=RATE_HZ, seed=seed)
    return to_int16(out)


def _detections(spotter: WakeWordSpotter, samples: Samples) -> list[int]:
    """The sample indices at which the spotter detects its phrase."""
    spotter.reset()
    steps = range(0, len(samples) - _STEP + 1, _STEP)
    return [at + _STEP for at in steps if spotter.process(samples[at : at + _STEP]) is not None]


def _recordings(options: BenchOptions) -> Samples:
    """All recordings joined; they contain no wake word."""
    sources, _ = options.recorded()
    clips = _loaded(sources, len(sources))
    parts = [(32767 * clip.samples).astype(np.int16) for clip in clips]
    return np.concatenate(parts) if parts else np.zeros(0, np.int16)
