"""Pauses, presses and soft speech through the real processes, read off the loudspeaker's track."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from appliance import settings
from appliance.bench.seam import knock
from appliance.bench.stage import LEAD, QUIET, Stage
from appliance.ipc.ring import Samples
from appliance.messages import (
    Abandon,
    Heard,
    Onset,
    Paused,
    Resumed,
    SpeechEnded,
    Started,
    StateChanged,
    Stopped,
    StopSpeaking,
    Talk,
    Think,
    Verdict,
)
from appliance.processes import RATE_HZ
from appliance.room import commands, scene
from appliance.room.commands import load_over
from appliance.room.rehearsal import Rehearsal
from appliance.room.scene import Scene, Utterance
from appliance.room.seam import measure
from appliance.room.sounds import make

pytestmark = pytest.mark.usefixtures("simcard_library")

MS = RATE_HZ // 1000
AUDIBLE = 33  # of 32767: -60 dBFS
T = TypeVar("T")


def on_stage(act: Callable[[Stage], None], mode: str = "open", **speaking: Any) -> None:
    changed = load_over(settings.load_defaults(), {"mode": mode, "speaking": speaking})
    Stage(QUIET, changed, act).play()


def first(stage: Stage, kind: type[T], since: int, timeout_s: float = 5.0) -> T:
    """The first message of that kind after card index `since`, when it has come."""
    assert stage.until(lambda: any(stage.found(kind, since)), timeout_s), kind.__name__
    return list(stage.found(kind, since))[-1]


def loudness(stage: Stage, at: int, frames: int) -> float:
    """Root mean square of the loudspeaker's track."""
    assert stage.until(lambda: stage.card.now() > at + frames, 5.0)
    return float(np.sqrt(np.mean(stage.card.loudspeaker(at, frames).astype(np.float64) ** 2)))


def silent_within(track: Samples) -> int:
    """Samples until the last audible one."""
    loud = np.flatnonzero(np.abs(track.astype(np.int32)) > AUDIBLE)
    return int(loud[-1]) + 1 if len(loud) else 0


def knocked(stage: Stage, seed: int) -> tuple[Onset, Verdict] | None:
    """A knock on the table, and how it was taken. None: the gate has learned to bear knocks."""
    at = stage.card.now() + LEAD
    stage.say(at, knock(seed))
    if not stage.until(lambda: any(stage.found(Onset, at)), 1.5):
        return None
    onset = first(stage, Onset, at)
    assert stage.until(lambda: any(v.serial == onset.serial for v in stage.found(Verdict, at)), 3.0)
    return onset, next(v for v in stage.found(Verdict, at) if v.serial == onset.serial)


def test_pauses_long_and_short_presses_and_a_restless_owner() -> None:
    def act(stage: Stage) -> None:
        stage.talk()
        _a_press_without_a_message(stage)
        _two_knocks_in_a_row(stage)
        _the_talk_button(stage)

    on_stage(act, rewind_after_s=0.2)


def _a_press_without_a_message(stage: Stage) -> None:
    """A pause of 0.3 s or more: then the last word is said again, and no sample is lost."""
    at = stage.card.now()
    stage.supervisor.floor().press += 1
    pause, resume = first(stage, Paused, at), first(stage, Resumed, at)
    assert pause.serial == 0
    assert stage.index(pause.index) - at < 60 * MS  # a bound on a busy machine, not the figure
    assert resume.position <= pause.position
    stage.wait(1.5)
    start = stage.index(pause.index) - RATE_HZ // 2
    track = stage.card.loudspeaker(start, stage.index(resume.index) + RATE_HZ // 2 - start)
    paused, resumed = stage.index(pause.index) - start, stage.index(resume.index) - start
    again = pause.position - resume.position
    answer = stage.spoken(pause.turn)
    seam = measure(track, answer, paused, resumed, pause.position, again)
    if seam is not None:  # else the speech itself is silent there
        assert (seam.lost_samples, seam.repeated_samples) == (0, 0)


def _two_knocks_in_a_row(stage: Stage) -> None:
    """The second one, a moment after the answer went on, keeps it quiet until there is calm."""
    at = stage.card.now()
    assert knocked(stage, 1) is not None
    went_on = first(stage, Resumed, at)
    second = stage.card.now()
    noticed = knocked(stage, 2)
    if noticed is None:
        return
    onset, verdict = noticed
    again = first(stage, Resumed, second)
    quiet_ms = (again.index - onset.index) // MS - verdict.age_ms
    assert onset.index - went_on.index > RATE_HZ or quiet_ms > 400  # late on a busy machine


def _the_talk_button(stage: Stage) -> None:
    """Silence at once, then the box listens; the press is let go."""
    floor = stage.supervisor.floor()
    at = stage.card.now()
    floor.press += 1
    stage.send(Talk(pressed=True))
    stopped = first(stage, Stopped, at)
    assert stage.state is not None
    assert stage.state.state == "listening"
    assert not floor.pressed
    stage.wait(0.5)
    assert stopped.turn < floor.turn
    assert silent_within(stage.card.loudspeaker(at, RATE_HZ // 2)) < 60 * MS


def test_where_the_owner_wants_it_the_box_goes_on_softly_until_the_verdict() -> None:
    def act(stage: Stage) -> None:
        stage.talk()
        stage.wait(2.5)  # before that it does not know its own voice in this room, and bears more
        at = stage.card.now()
        noticed = knocked(stage, 1)
        assert noticed is not None
        onset, _ = noticed
        held = [m for m in stage.found(StateChanged, at) if m.state == "holding"]
        assert held
        stage.wait(1.0)
        assert not list(stage.found(Paused, at))
        begun = stage.index(onset.index)
        softly = loudness(stage, begun + 60 * MS, 60 * MS)
        loudly = loudness(stage, begun + 600 * MS, RATE_HZ // 2)
        assert 0 < softly < 0.4 * loudly

    on_stage(act, while_judging="duck")


def test_in_push_to_talk_the_button_and_nothing_else_gets_the_boxs_ear() -> None:
    hello = make(Scene(name="test"), Utterance(say="hello there"))

    def act(stage: Stage) -> None:
        stage.talk()
        at = stage.card.now() + LEAD
        stage.say(at, hello)
        stage.wait(LEAD / RATE_HZ + 1.0)
        assert not list(stage.found(Onset, at))
        stage.supervisor.floor().press += 1
        stage.send(Talk(pressed=True))
        first(stage, Stopped, at)
        said = stage.card.now() + LEAD
        stage.say(said, hello)
        stage.wait((LEAD + hello.end) / RATE_HZ + 0.1)
        assert not [m for m in stage.found(SpeechEnded, at) if m.last]
        stage.send(Talk(pressed=False))
        ended = first(stage, SpeechEnded, said)
        assert ended.last
        assert ended.frames > RATE_HZ // 2

    on_stage(act, mode="push_to_talk")


def test_who_speaks_into_the_first_words_of_an_answer_is_answered_to_both_pieces() -> None:
    def enough(rehearsal: Rehearsal) -> None:
        thoughts = [m for _, m in rehearsal.recording.of(Think)]
        if len(thoughts) == 2 and any(
            m.turn == thoughts[1].turn for _, m in rehearsal.recording.of(Started)
        ):
            rehearsal.mail.send(StopSpeaking())

    script = [{"at_s": 0.2, "say": "tell me about"}, {"when": "speaking", "say": "the moon please"}]
    grace = {"speaking": {"grace_ms": 2000}}  # a busy machine may be late to speak
    parsed = scene.parse({"owner": script, "settings": grace}, name="test", folder=Path())
    recording = commands.perform(parsed, settings.load_defaults(), during=enough).recording
    first_think, second = (m for _, m in recording.of(Think))
    started = [m.turn for _, m in recording.of(Started)]
    assert started[:2] == [first_think.turn, second.turn]
    assert first_think.turn in [m.turn for _, m in recording.of(Abandon)]
    assert first_think.turn not in [m.turn for _, m in recording.of(Heard)]
