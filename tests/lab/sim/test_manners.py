"""Pauses, presses and ducking through the real processes, measured on the loudspeaker's track."""

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
MOST_TRIES = 6  # attempts, since a busy machine or a silence in the speech may spoil one
T = TypeVar("T")


def on_stage(act: Callable[[BenchHarness], None], **speaking: Any) -> None:
    changed = load_over(ENGLISH, {"speaking": speaking})
    BenchHarness(QUIET, changed, act).play()


def first(stage: BenchHarness, kind: type[T], since: int, timeout_s: float = 5.0) -> T:
    """Wait for the first message of that kind after card index `since`."""
    assert stage.wait_until(lambda: any(stage.messages_since(kind, since)), timeout_s), (
        kind.__name__
    )
    return list(stage.messages_since(kind, since))[-1]


def level_db(stage: BenchHarness, turn: int, at: int, frames: int) -> float | None:
    """Level of the loudspeaker's track from card index `at` on, relative to the synthesised answer.

    None where the speech itself is silent or the card dropped out."""
    assert stage.wait_until(lambda: stage.card.now() > at + frames, 5.0)
    track = stage.card.loudspeaker(at, frames).astype(np.float64)
    answer = stage.synthesised(turn).astype(np.float64)
    around = max(0, at - stage.started_at - RATE_HZ)  # dropouts on a busy machine delay the track
    region = answer[around : around + frames + 2 * RATE_HZ]
    if len(region) < frames or np.sqrt(np.mean(track**2)) < 20:
        return None
    products = np.correlate(region, track, "valid")
    energy = np.convolve(region**2, np.ones(frames), "valid") + 1.0
    correlation = products / np.sqrt(energy * np.sum(track**2))
    best = int(np.argmax(correlation))
    return (
        float(20 * np.log10(products[best] / energy[best])) if correlation[best] > 0.999 else None
    )


def silent_within(track: Samples) -> int:
    """The number of samples up to the last audible one."""
    loud = np.flatnonzero(np.abs(track.astype(np.int32)) > AUDIBLE)
    return int(loud[-1]) + 1 if len(loud) else 0


def knock_and_verdict(stage: BenchHarness, seed: int) -> tuple[Onset, Verdict] | None:
    """Knock on the table; return onset and verdict. None: the gate has adapted to knocks."""
    at = stage.card.now() + LEAD
    stage.add_sound(at, knock(seed))
    if not stage.wait_until(lambda: any(stage.messages_since(Onset, at)), 1.5):
        return None
    onset = first(stage, Onset, at)
    assert stage.wait_until(
        lambda: any(v.serial == onset.serial for v in stage.messages_since(Verdict, at)), 3.0
    )
    return onset, next(v for v in stage.messages_since(Verdict, at) if v.serial == onset.serial)


def test_presses_knocks_and_push_to_talk_pause_or_stop_the_answer() -> None:
    def act(stage: BenchHarness) -> None:
        stage.start_talking()
        _a_press_without_a_message(stage)
        _a_second_knock_pauses_longer(stage)
        _the_talk_button_stops_the_answer(stage)
        stage.send(TalkButton(pressed=False))
        stage.send(SetMode("push_to_talk"))
        _push_to_talk_listens_only_while_the_button_is_down(stage)

    on_stage(act, rewind_after_s=0.2)


def _a_press_without_a_message(stage: BenchHarness) -> None:
    """After a pause of 0.3 s or more the last word is repeated, and no sample is lost."""
    measured: list[Seam] = []
    for _ in range(MOST_TRIES):
        if (seam := _after_a_press(stage)) is not None:  # None: the speech itself is silent there
            measured.append(seam)
        if len(measured) == 2:
            break
        if not stage.talking():
            stage.start_talking()
    assert [(seam.lost_samples, seam.repeated_samples) for seam in measured] == [(0, 0)] * 2


def _after_a_press(stage: BenchHarness) -> Seam | None:
    at = stage.card.now()
    stage.supervisor.floor().press += 1
    pause, resume = first(stage, PlaybackPaused, at), first(stage, PlaybackResumed, at)
    assert pause.serial == 0
    assert stage.index(pause.index) - at < 60 * MS  # a bound for a busy machine, not the benchmark
    stage.wait(1.2)
    answer = stage.synthesised(pause.turn)
    again = pause.position - resume.position
    if not stage.unread:
        assert again == _expected_rewind(stage, answer, pause)
    start = stage.index(pause.index) - RATE_HZ // 2
    track = stage.card.loudspeaker(start, stage.index(resume.index) + RATE_HZ // 2 - start)
    paused, resumed = stage.index(pause.index) - start, stage.index(resume.index) - start
    return measure_seam(track, answer, paused, resumed, pause.position, again)


def _expected_rewind(stage: BenchHarness, answer: Samples, pause: PlaybackPaused) -> int:
    """The samples that are repeated: back to the start of the word, plus a lead for the fade-in."""
    available = min(LOOK_BACK, pause.position)
    back = last_word(answer[pause.position - available : pause.position])
    word_starts = stage.words_begun(pause.turn, pause.position)
    measured = bool(back) and bool(word_starts) and pause.position - word_starts[-1] <= available
    return min(available, pause.position - word_starts[-1] + 20 * MS) if measured else back


def _a_second_knock_pauses_longer(stage: BenchHarness) -> None:
    """A second knock, shortly after the answer resumed, pauses it until the room is quiet."""
    for seed in range(1, 2 * MOST_TRIES, 2):
        at = stage.card.now()
        if knock_and_verdict(stage, seed) is None:
            continue
        resumed = first(stage, PlaybackResumed, at)
        second = stage.card.now()
        if (result := knock_and_verdict(stage, seed + 1)) is not None:
            break
    else:
        pytest.fail("no second knock was noticed")
    onset, verdict = result
    again = first(stage, PlaybackResumed, second)
    quiet_ms = (again.index - onset.index) // MS - verdict.age_ms
    assert onset.index - resumed.index > RATE_HZ or quiet_ms > 400  # late on a busy machine


def _the_talk_button_stops_the_answer(stage: BenchHarness) -> None:
    """A press silences the box at once; then it listens, and the floor's press is cleared."""
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


def test_with_duck_the_answer_continues_18_db_softer_until_the_verdict() -> None:
    def act(stage: BenchHarness) -> None:
        stage.start_talking()
        stage.wait(2.5)  # until the canceller has converged; before, the gate is less sensitive
        at = stage.card.now()
        differences_db = [_attenuation_db(stage, seed) for seed in range(1, 5)]
        measured = [db for db in differences_db if db is not None]
        assert measured
        assert measured == pytest.approx([-18.0] * len(measured), abs=0.3)
        assert not list(stage.messages_since(PlaybackPaused, at))

    on_stage(act, while_judging="duck")


def _attenuation_db(stage: BenchHarness, seed: int) -> float | None:
    """The level while a knock is judged, relative to half a second later."""
    at = stage.card.now()
    result = knock_and_verdict(stage, seed)
    if result is None:
        return None
    onset, verdict = result
    held = [m for m in stage.messages_since(StateChanged, at) if m.state == "holding"]
    assert held
    decided, judged = stage.index(onset.decided), stage.index(onset.index) + verdict.age_ms * MS
    during_db = level_db(stage, held[0].turn, decided + 40 * MS, 60 * MS)
    after_db = level_db(stage, held[0].turn, judged + RATE_HZ // 2, 60 * MS)
    return None if during_db is None or after_db is None else during_db - after_db


def _push_to_talk_listens_only_while_the_button_is_down(stage: BenchHarness) -> None:
    hello = make(Scene(name="test"), ScriptedUtterance(say="hello there"))
    stage.start_talking()
    at = stage.card.now() + LEAD
    stage.add_sound(at, hello)
    stage.wait(LEAD / RATE_HZ + 1.0)
    assert not list(stage.messages_since(Onset, at))
    stage.supervisor.floor().press += 1
    stage.send(TalkButton(pressed=True))
    first(stage, PlaybackStopped, at)
    spoken_at = stage.card.now() + LEAD
    stage.add_sound(spoken_at, hello)
    stage.wait((LEAD + hello.end) / RATE_HZ + 0.1)
    assert not [m for m in stage.messages_since(SpeechEnded, at) if m.last]
    stage.send(TalkButton(pressed=False))
    ended = first(stage, SpeechEnded, spoken_at)
    assert ended.last
    assert ended.frames > RATE_HZ // 2
