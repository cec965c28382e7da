"""Pauses, presses and soft speech through the real processes, read off the loudspeaker's track."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

from appliance.audio.word_boundary import LOOK_BACK, last_word
from appliance.messages.commands import SetMode, StateChanged, TalkButton
from appliance.messages.hearing import Onset, SpeechEnded, Verdict
from appliance.messages.playback import PlaybackPaused, PlaybackResumed, PlaybackStopped
from appliance.pcm import AUDIBLE, RATE_HZ, Samples
from lab.bench.harness import LEAD, QUIET, BenchHarness
from lab.bench.seam import knock
from lab.sim.rehearsal_cli import load_over
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.script_sounds import make
from lab.sim.seam_measure import Seam, measure_seam
from tests.english import ENGLISH

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

MS = RATE_HZ // 1000
MOST_TRIES = 6  # of what a busy machine, or a silence of the speech, may spoil
T = TypeVar("T")


def on_stage(act: Callable[[BenchHarness], None], **speaking: Any) -> None:
    changed = load_over(ENGLISH, {"speaking": speaking})
    BenchHarness(QUIET, changed, act).play()


def first(stage: BenchHarness, kind: type[T], since: int, timeout_s: float = 5.0) -> T:
    """The first message of that kind after card index `since`, when it has come."""
    assert stage.wait_until(lambda: any(stage.messages_since(kind, since)), timeout_s), (
        kind.__name__
    )
    return list(stage.messages_since(kind, since))[-1]


def level_db(stage: BenchHarness, turn: int, at: int, frames: int) -> float | None:
    """By how much the loudspeaker's track, from card index `at` on, is softer than the answer as it
    was synthesised. None where the speech itself is silent, or the card dropped out."""
    assert stage.wait_until(lambda: stage.card.now() > at + frames, 5.0)
    track = stage.card.loudspeaker(at, frames).astype(np.float64)
    answer = stage.synthesised(turn).astype(np.float64)
    around = max(0, at - stage.started_at - RATE_HZ)  # a busy machine drops out: then it is later
    region = answer[around : around + frames + 2 * RATE_HZ]
    if len(region) < frames or np.sqrt(np.mean(track**2)) < 20:
        return None
    products = np.correlate(region, track, "valid")
    energy = np.convolve(region**2, np.ones(frames), "valid") + 1.0
    alike = products / np.sqrt(energy * np.sum(track**2))
    best = int(np.argmax(alike))
    return float(20 * np.log10(products[best] / energy[best])) if alike[best] > 0.999 else None


def silent_within(track: Samples) -> int:
    """Samples until the last audible one."""
    loud = np.flatnonzero(np.abs(track.astype(np.int32)) > AUDIBLE)
    return int(loud[-1]) + 1 if len(loud) else 0


def knocked(stage: BenchHarness, seed: int) -> tuple[Onset, Verdict] | None:
    """A knock on the table, and how it was taken. None: the gate has learned to bear knocks."""
    at = stage.card.now() + LEAD
    stage.add_sound(at, knock(seed))
    if not stage.wait_until(lambda: any(stage.messages_since(Onset, at)), 1.5):
        return None
    onset = first(stage, Onset, at)
    assert stage.wait_until(
        lambda: any(v.serial == onset.serial for v in stage.messages_since(Verdict, at)), 3.0
    )
    return onset, next(v for v in stage.messages_since(Verdict, at) if v.serial == onset.serial)


def test_pauses_presses_a_restless_owner_and_push_to_talk() -> None:
    def act(stage: BenchHarness) -> None:
        stage.start_talking()
        _a_press_without_a_message(stage)
        _two_knocks_in_a_row(stage)
        _the_talk_button(stage)
        stage.send(TalkButton(pressed=False))
        stage.send(SetMode("push_to_talk"))
        _in_push_to_talk_the_button_and_nothing_else_gets_the_boxs_ear(stage)

    on_stage(act, rewind_after_s=0.2)


def _a_press_without_a_message(stage: BenchHarness) -> None:
    """A pause of 0.3 s or more: then the last word is said again, and no sample is lost."""
    told: list[Seam] = []
    for _ in range(MOST_TRIES):
        if (seam := _after_a_press(stage)) is not None:  # else the speech itself is silent there
            told.append(seam)
        if len(told) == 2:
            break
        if not stage.talking():
            stage.start_talking()
    assert [(seam.lost_samples, seam.repeated_samples) for seam in told] == [(0, 0)] * 2


def _after_a_press(stage: BenchHarness) -> Seam | None:
    at = stage.card.now()
    stage.supervisor.floor().press += 1
    pause, resume = first(stage, PlaybackPaused, at), first(stage, PlaybackResumed, at)
    assert pause.serial == 0
    assert stage.index(pause.index) - at < 60 * MS  # a bound on a busy machine, not the figure
    stage.wait(1.2)
    answer = stage.synthesised(pause.turn)
    again = pause.position - resume.position
    if not stage.unread:
        assert again == _rewound(stage, answer, pause)
    start = stage.index(pause.index) - RATE_HZ // 2
    track = stage.card.loudspeaker(start, stage.index(resume.index) + RATE_HZ // 2 - start)
    paused, resumed = stage.index(pause.index) - start, stage.index(resume.index) - start
    return measure_seam(track, answer, paused, resumed, pause.position, again)


def _rewound(stage: BenchHarness, answer: Samples, pause: PlaybackPaused) -> int:
    """Samples that are said again: since its voice's word began, with a lead to fade in."""
    kept = min(LOOK_BACK, pause.position)
    back = last_word(answer[pause.position - kept : pause.position])
    begun = stage.words_begun(pause.turn, pause.position)
    told = bool(back) and bool(begun) and pause.position - begun[-1] <= kept
    return min(kept, pause.position - begun[-1] + 20 * MS) if told else back


def _two_knocks_in_a_row(stage: BenchHarness) -> None:
    """The second one, a moment after the answer went on, keeps it quiet until there is calm."""
    for seed in range(1, 2 * MOST_TRIES, 2):
        at = stage.card.now()
        if knocked(stage, seed) is None:
            continue
        went_on = first(stage, PlaybackResumed, at)
        second = stage.card.now()
        if (noticed := knocked(stage, seed + 1)) is not None:
            break
    else:
        pytest.fail("no second knock was noticed")
    onset, verdict = noticed
    again = first(stage, PlaybackResumed, second)
    quiet_ms = (again.index - onset.index) // MS - verdict.age_ms
    assert onset.index - went_on.index > RATE_HZ or quiet_ms > 400  # late on a busy machine


def _the_talk_button(stage: BenchHarness) -> None:
    """Silence at once, then the box listens; the press is let go."""
    floor = stage.supervisor.floor()
    at = stage.card.now()
    floor.press += 1
    stage.send(TalkButton(pressed=True))
    stopped = first(stage, PlaybackStopped, at)
    assert stage.state is not None
    assert stage.state.state == "listening"
    assert not floor.pressed
    stage.wait(0.5)
    assert stopped.turn < floor.turn
    assert silent_within(stage.card.loudspeaker(at, RATE_HZ // 2)) < 60 * MS


def test_where_the_owner_wants_it_the_box_goes_on_softly_until_the_verdict() -> None:
    def act(stage: BenchHarness) -> None:
        stage.start_talking()
        stage.wait(2.5)  # before that it does not know its own voice in this room, and bears more
        at = stage.card.now()
        differences_db = [_softer_by_db(stage, seed) for seed in range(1, 5)]
        told = [db for db in differences_db if db is not None]
        assert told
        assert told == pytest.approx([-18.0] * len(told), abs=0.3)
        assert not list(stage.messages_since(PlaybackPaused, at))

    on_stage(act, while_judging="duck")


def _softer_by_db(stage: BenchHarness, seed: int) -> float | None:
    """While a knock is judged, against half a second after that."""
    at = stage.card.now()
    noticed = knocked(stage, seed)
    if noticed is None:
        return None
    onset, verdict = noticed
    held = [m for m in stage.messages_since(StateChanged, at) if m.state == "holding"]
    assert held
    decided, judged = stage.index(onset.decided), stage.index(onset.index) + verdict.age_ms * MS
    softly = level_db(stage, held[0].turn, decided + 40 * MS, 60 * MS)
    loudly = level_db(stage, held[0].turn, judged + RATE_HZ // 2, 60 * MS)
    return None if softly is None or loudly is None else softly - loudly


def _in_push_to_talk_the_button_and_nothing_else_gets_the_boxs_ear(stage: BenchHarness) -> None:
    hello = make(Scene(name="test"), ScriptedUtterance(say="hello there"))
    stage.start_talking()
    at = stage.card.now() + LEAD
    stage.add_sound(at, hello)
    stage.wait(LEAD / RATE_HZ + 1.0)
    assert not list(stage.messages_since(Onset, at))
    stage.supervisor.floor().press += 1
    stage.send(TalkButton(pressed=True))
    first(stage, PlaybackStopped, at)
    said = stage.card.now() + LEAD
    stage.add_sound(said, hello)
    stage.wait((LEAD + hello.end) / RATE_HZ + 0.1)
    assert not [m for m in stage.messages_since(SpeechEnded, at) if m.last]
    stage.send(TalkButton(pressed=False))
    ended = first(stage, SpeechEnded, said)
    assert ended.last
    assert ended.frames > RATE_HZ // 2
