"""Asks a running box one question for `bench answer`, and splits the answer's time into parts."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from appliance.messages.commands import StopSpeaking
from appliance.messages.hearing import SpeechEnded
from appliance.messages.playback import PlaybackStarted
from appliance.messages.speech import Spoken
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.pcm import AUDIBLE, RATE_HZ
from lab.bench.bench_words import VOICES
from lab.bench.endpoint_turns import SENTENCES_FOLDER
from lab.bench.harness import LEAD, BenchHarness
from lab.sim import corpus, script_sounds
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.speech_source import SPEECH_DB, OwnerSound

ANSWERED_S = 60.0  # timeout after the owner's words; then the question counts as unanswered
IDLE_SHARE = 0.1  # share of a core below which the thinker counts as idle
IDLE_S = 60.0  # timeout of its idle prefill
QUESTION_S = (3.0, 5.2)  # length of the recorded orders that are used


@dataclass(frozen=True)
class Question:
    text: str
    sound: OwnerSound


def synthetic(texts: tuple[str, ...], rng: random.Random) -> Iterator[Question]:
    """Questions by espeak-ng, without end, with random text, voice and speed."""
    while True:
        text, voice = rng.choice(texts), rng.choice(VOICES)
        entry = ScriptedUtterance(say=text, voice=voice, speed=rng.randrange(140, 190, 10))
        yield Question(f"{text} ({voice})", script_sounds.make(Scene(name="bench"), entry))


def recorded(sources: list[RecordingFile], rng: random.Random) -> list[Question]:
    """Recorded complete orders of three to five seconds, each once, shuffled."""
    found = []
    for source in sources:
        if source.word != SENTENCES_FOLDER:
            continue
        with contextlib.suppress(InterludeError):  # silent or clipped
            clip = corpus.load(source)
            if QUESTION_S[0] <= (clip.end - clip.onset) / RATE_HZ <= QUESTION_S[1]:
                sound = OwnerSound(clip.at(SPEECH_DB), clip.onset, clip.end)
                found.append(Question(source.path.name, sound))
    rng.shuffle(found)
    return found


def ask(stage: BenchHarness, question: Question, listen_s: float = 0.3) -> dict[str, Any]:
    """Ask one question. Returns the parts of the answer's time in ms. The answer is stopped after
    `listen_s`."""
    sound = question.sound
    at = stage.card.now() + LEAD
    stage.add_sound(at, sound)
    end = at + sound.end
    event: dict[str, Any] = {"asked": question.text, "all_ms": None}
    if not stage.wait_until(lambda: _answer(stage, at) is not None,
                            sound.end / RATE_HZ + ANSWERED_S):  # fmt: skip
        return event
    answer = _answer(stage, at)
    assert answer is not None
    stage.wait(listen_s)
    started = stage.index(answer.index)
    track = stage.card.loudspeaker(started, stage.card.now() - started).astype(np.int32)
    loud = np.flatnonzero(np.abs(track) > AUDIBLE)
    event["all_ms"] = (started + int(loud[0] if len(loud) else 0) - end) * 1000 / RATE_HZ
    stage.send(StopSpeaking())
    stage.wait_until(
        lambda: any(m.turn == answer.turn for m in stage.messages_since(ThoughtEnded, at)), 20.0
    )
    return event | _parts(stage, at, end, answer.turn, event["all_ms"])


def settle(stage: BenchHarness) -> None:
    """Wait until no onset is open and the thinker has finished its idle prefill."""
    stage.wait_until(stage.settled, 3.0)
    stage.wait(0.8)
    thinker = psutil.Process(stage.pid("thinker"))

    def idle() -> bool:
        before_s = _cpu_s(thinker)
        stage.wait(0.4)
        return _cpu_s(thinker) - before_s < 0.4 * IDLE_SHARE

    stage.wait_until(idle, IDLE_S)


def resident_mib(stage: BenchHarness) -> float:
    """Memory of the box's processes and their children; shared pages are counted once (PSS). The
    supervisor runs in the bench's own process here, and is left out."""
    total = 0
    for part in stage.supervisor.parts.values():
        if part.child is None:
            continue
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(part.child.pid)
            for member in (process, *process.children(recursive=True)):
                total += member.memory_full_info().pss
    return total / 2**20


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _answer(stage: BenchHarness, since: int) -> PlaybackStarted | None:
    thought = {m.turn for m in stage.messages_since(Sentence, since)}
    found = (m for m in stage.messages_since(PlaybackStarted, since) if m.turn in thought)
    return next(found, None)


def _parts(stage: BenchHarness, at: int, end: int, turn: int, all_ms: float) -> dict[str, Any]:
    """The parts of the answer's time; only the text if one of them is unknown."""
    messages = [(i, seen.message) for i, seen in stage.recording.mail if i >= at]
    ended = [i for i, message in messages if isinstance(message, SpeechEnded) and message.last]
    thoughts = [m for m in stage.messages_since(ThoughtEnded, at) if m.turn == turn]
    spoken = [m for m in stage.messages_since(Spoken, at) if m.turn == turn and m.number == 0]
    texts = [m for m in stage.messages_since(Sentence, at) if m.turn == turn]
    texts.sort(key=lambda message: message.number)
    parts: dict[str, Any] = {"said": [m.text for m in texts]}
    ended_before = [i for i in ended if i <= at + all_ms * RATE_HZ / 1000 + (end - at)]
    if not (ended_before and thoughts and spoken):
        return parts
    thought, turn_end = thoughts[0], ended_before[-1]
    writing_ms = thought.first_sentence_ms - thought.encode_ms - thought.prefill_ms
    parts_ms = {
        "turn_end_ms": (turn_end - end) * 1000 / RATE_HZ,
        "waited_ms": thought.waited_ms,
        "encode_ms": thought.encode_ms,
        "prefill_ms": thought.prefill_ms,
        "first_sentence_ms": max(0.0, writing_ms - thought.waited_ms),
        "synthesis_ms": spoken[0].synthesis_ms,
    }
    details = {
        "rest_ms": all_ms - sum(parts_ms.values()),
        "from_decision_ms": all_ms - parts_ms["turn_end_ms"],
        "cut_off": parts_ms["turn_end_ms"] < 0,
        "drawn_ahead": thought.drawn_ahead,
        "thrown_away": thought.thrown_away,
        "tokens": thought.tokens,
        "read": thought.read_tokens,
        "tokens_per_s": thought.tokens_per_s,
    }
    return parts | parts_ms | details
