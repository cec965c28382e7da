"""`interlude bench answer`: the owner has spoken → the first audible sample of the answer.

The model is the one of the settings; by default the pocket model that comes with the package.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from appliance.messages.commands import StopSpeaking
from appliance.messages.hearing import SpeechEnded
from appliance.messages.playback import PlaybackStarted
from appliance.messages.speech import Spoken
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.models.store import resolve
from appliance.pcm import AUDIBLE, RATE_HZ
from appliance.runtime import process_table
from lab.bench.bench_words import VOICES
from lab.bench.benches import SPREAD, BenchOptions, FigureTable, spread
from lab.bench.harness import LEAD, QUIET, BenchHarness
from lab.sim import script_sounds
from lab.sim.scene import Scene, ScriptedUtterance

EVENTS = 60
REQUESTS = (
    "tell me about the moon", "tell me about the sea", "how is bread made", "tell me a story",
    "why is the sky blue", "what is two plus two", "hello", "how are you", "who are you",
    "what is the capital of france", "how do i make coffee", "how far is the moon",
)  # fmt: skip
ANSWERED_S = 20.0  # after the owner's words; then it is counted as not answered
PARTS = (
    ("all", "all_ms"),
    ("end of turn", "turn_end_ms"),
    ("encoding the sound", "encode_ms"),
    ("prefill", "prefill_ms"),
    ("to the first sentence", "first_sentence_ms"),
    ("synthesis", "synthesis_ms"),
    ("messages, ring and card", "rest_ms"),
)


def bench(options: BenchOptions) -> list[FigureTable]:
    """Ask so many times. Raises ModelError when the model is not here."""
    if not options.settings.thinking.remote.url:
        resolve(options.settings)
    events: list[dict[str, Any]] = []

    def act(stage: BenchHarness) -> None:
        rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
        for _ in range(options.events or EVENTS):
            events.append(_ask(stage, rng.choice(REQUESTS), rng.choice(VOICES), rng))
            stage.send(StopSpeaking())
            stage.wait_until(stage.settled, 3.0)
            stage.wait(0.8)

    parts = tuple(row.name for row in process_table.PROCESSES)
    BenchHarness(QUIET, options.settings, act, parts=parts).play()
    return [_sheet(events)]


def _ask(stage: BenchHarness, text: str, voice: str, rng: random.Random) -> dict[str, Any]:
    """One question; what it met with, in milliseconds."""
    entry = ScriptedUtterance(say=text, voice=voice, speed=rng.randrange(140, 190, 10))
    sound = script_sounds.make(Scene(name="bench"), entry)
    at = stage.card.now() + LEAD
    stage.add_sound(at, sound)
    end = at + sound.end
    event: dict[str, Any] = {"asked": text, "voice": voice, "all_ms": None}

    def started() -> PlaybackStarted | None:
        thought = {m.turn for m in stage.messages_since(Sentence, at)}
        return next(
            (m for m in stage.messages_since(PlaybackStarted, at) if m.turn in thought), None
        )

    if not stage.wait_until(lambda: started() is not None, sound.end / RATE_HZ + ANSWERED_S):
        return event
    answer = started()
    assert answer is not None
    stage.wait(0.3)
    stage.wait_until(
        lambda: any(m.turn == answer.turn for m in stage.messages_since(ThoughtEnded, at)), 20.0
    )
    begun = stage.index(answer.index)
    track = stage.card.loudspeaker(begun, stage.card.now() - begun).astype(np.int32)
    loud = np.flatnonzero(np.abs(track) > AUDIBLE)
    event["all_ms"] = (begun + int(loud[0] if len(loud) else 0) - end) * 1000 / RATE_HZ
    return event | _parts(stage, at, end, answer.turn, event["all_ms"])


def _parts(stage: BenchHarness, at: int, end: int, turn: int, all_ms: float) -> dict[str, Any]:
    """Of what the answer's time is made; what is not known of it is left out."""
    mail = ((i, seen.message) for i, seen in stage.recording.mail if i >= at)
    ended = [i for i, message in mail if isinstance(message, SpeechEnded) and message.last]
    thoughts = [m for m in stage.messages_since(ThoughtEnded, at) if m.turn == turn]
    spoken = [m for m in stage.messages_since(Spoken, at) if m.turn == turn and m.number == 0]
    texts = [m.text for m in stage.messages_since(Sentence, at) if m.turn == turn]
    parts: dict[str, Any] = {"said": " ".join(reversed(texts))}
    if not (ended and thoughts and spoken):
        return parts
    thought = thoughts[0]
    writing_ms = max(0.0, thought.first_sentence_ms - thought.encode_ms - thought.prefill_ms)
    found = {
        "turn_end_ms": (ended[0] - end) * 1000 / RATE_HZ,
        "encode_ms": thought.encode_ms,
        "prefill_ms": thought.prefill_ms,
        "first_sentence_ms": writing_ms,
        "synthesis_ms": spoken[0].synthesis_ms,
    }
    drawn = {"drawn_ahead": thought.drawn_ahead, "thrown_away": thought.thrown_away}
    return parts | found | drawn | {"rest_ms": all_ms - sum(found.values())}


def _sheet(events: list[dict[str, Any]]) -> FigureTable:
    sheet = FigureTable(
        "Answer: the owner's last sample → the first audible one, ms", ("", *SPREAD)
    )
    for title, key in PARTS:
        values = [e[key] for e in events if e.get(key) is not None]
        sheet.rows.append((title, *spread(values, 0)))
    silent = sum(e["all_ms"] is None for e in events)
    sheet.notes.append(
        f"{len(events)} questions, {silent} without an answer. The end of turn holds the silence "
        "that the settings ask for (hearing.turn)."
    )
    begun = [e["drawn_ahead"] for e in events if "drawn_ahead" in e]
    tokens = np.median(begun) if begun else 0
    sheet.notes.append(
        f"{sum(map(bool, begun))} of {len(begun)} answers were begun before the turn was over, "
        f"with {tokens:g} tokens (median); {sum(e.get('thrown_away', 0) for e in events)} tokens "
        "were thrown away."
    )
    sheet.events += events
    return sheet
