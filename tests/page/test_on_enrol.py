"""The page of an enrolment: started, followed, stopped and deleted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.background_file import write_private
from appliance.messages.enrolling import (
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    EnrolmentOutcome,
    OwnerVoiceChanged,
    TakeJudged,
)
from appliance.messages.trying import EndTrial, SoundRecording, StartTrial
from appliance.page.try_state import UNSEEN_S
from appliance.runtime import enrolled_files
from tests.page.desk import Desk

PLACE = "/own/voice"


def order(desk: Desk, do: str) -> int:
    return desk.post(PLACE, {"do": do, "token": desk.token}).status


def test_an_unpaired_browser_neither_sees_nor_starts_an_enrolment(desk: Desk) -> None:
    assert PLACE not in desk.text(PLACE)
    assert desk.post(PLACE, {"do": "begin"}).status == 403
    assert desk.sent == []


def test_an_enrolment_is_started_followed_and_stopped(desk: Desk) -> None:
    desk.pair()
    desk.sent.clear()
    assert "Nobody is enrolled" in desk.text(PLACE)
    assert order(desk, "begin") == 303
    begun, asked = desk.sent
    assert isinstance(begun, BeginEnrolment)
    assert isinstance(asked, AskTake)
    run = desk.box.trying.enrolment
    assert '<noscript><meta http-equiv="refresh"' in desk.text(PLACE), "works without a script, too"
    run.handle(SoundRecording(run.number, on=True), desk.now_s)
    assert "Say &#34;mm-hm&#34; now" in desk.text(PLACE)
    run.handle(TakeJudged(run.number, asked.take, "noisy"), desk.now_s)
    assert "The box asks for" in desk.text(PLACE)
    (again,) = run.pop_messages()
    assert isinstance(again, AskTake)
    run.handle(SoundRecording(run.number, on=True), desk.now_s)
    run.handle(TakeJudged(run.number, again.take, None), desk.now_s)
    assert "1 of 18 words are accepted" in desk.text(PLACE)
    assert ">accepted<" in desk.text(PLACE)
    assert order(desk, "cancel") == 303
    assert desk.sent[-1] == EndTrial(run.number)
    page = desk.text(PLACE)
    assert "It was stopped." in page
    assert "refresh" not in page


@pytest.mark.parametrize("outcome", ["kept", "no-better", "too-few", "contradict", "failed"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_outcome_is_shown(desk: Desk, outcome: EnrolmentOutcome, language: str) -> None:
    desk.pair()
    order(desk, "begin")
    run = desk.box.trying.enrolment
    run.handle(EnrolmentLearnt(run.number, outcome, 0.5, 0.917), desk.now_s)
    page = desk.get(PLACE, accept_language=language).body.decode()
    assert (">92<" in page or "92 %" in page) == (outcome == "kept")
    assert 'role="status"' in page


def test_an_enrolment_is_shown_and_can_be_deleted(desk: Desk) -> None:
    desk.pair()
    state = desk.box.settings.state_path()
    write_private(state / enrolled_files.FILE, b"numbers")
    folder = state / enrolled_files.FOLDER
    write_private(folder / "wait/a.wav", b"sound")
    assert re.search(r"Enrolled: 20\d\d-\d\d-\d\d", desk.text(PLACE))
    assert order(desk, "forget") == 303
    assert desk.sent[-1] == OwnerVoiceChanged()
    assert not (state / enrolled_files.FILE).exists()
    assert list(folder.iterdir()) == []
    page = desk.text(PLACE)
    assert "Nobody is enrolled" in page
    assert 'value="forget"' not in page


def test_a_failed_deletion_is_an_error(desk: Desk, tmp_path: Path) -> None:
    desk.pair()
    desk.sent.clear()
    deep = desk.box.settings.state_path() / enrolled_files.FOLDER
    for _ in range(70):  # deeper than any folder that the box creates
        deep /= "x"
    deep.mkdir(parents=True)
    assert order(desk, "forget") == 500
    assert OwnerVoiceChanged() not in desk.sent


def test_an_enrolment_and_a_trial_exclude_each_other(desk: Desk) -> None:
    desk.pair()
    desk.post("/try", {"do": "sound", "kind": "tone", "token": desk.token})
    assert order(desk, "begin") == 409
    assert not desk.box.trying.enrolment.under_way
    desk.box.trying.sound.abandon(desk.now_s)
    assert order(desk, "begin") == 303
    desk.post("/try", {"do": "sound", "kind": "tone", "token": desk.token})
    assert sum(isinstance(one, StartTrial) for one in desk.sent) == 1


def test_an_unwatched_enrolment_ends(desk: Desk) -> None:
    desk.pair()
    order(desk, "begin")
    trying = desk.box.trying
    trying.abandoned(desk.now_s + UNSEEN_S / 2, looks=False)
    assert trying.enrolment.under_way
    trying.abandoned(desk.now_s + 2 * UNSEEN_S, looks=True)
    assert trying.enrolment.under_way
    trying.abandoned(desk.now_s + 2 * UNSEEN_S, looks=False)
    assert trying.enrolment.phase == "abandoned"


def test_an_unknown_order_is_refused(desk: Desk) -> None:
    desk.pair()
    assert order(desk, "listen") == 400
