"""Mute between floor, store and dialogue: only the owner ends it."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.atomic_file import fresh_name
from appliance.background_file import write_private
from appliance.dialog.mute_state import LATE_S, MuteProblem
from appliance.dialog.mute_store import FILE, MARK, StoredMute, read_file
from appliance.language.catalogue import BoxSentence, english
from appliance.messages.commands import (
    Ask,
    Forget,
    ListenOnce,
    Mute,
    MuteSwitched,
    Restart,
    Say,
    SetMode,
    SetVolume,
    StopSpeaking,
    TalkButton,
)
from appliance.messages.hearing import WakeWordHeard
from appliance.messages.playback import CardFound
from appliance.messages.registry import Message
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import ThinkerReady
from tests.dialog.mute_box import Box
from tests.waiting import PATIENCE_S


def aloud(problem: MuteProblem) -> str:
    assert problem.aloud is not None
    return problem.aloud.text(english())


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    made = Box(tmp_path)
    made.settle()  # the first start writes the file
    yield made
    made.close()


def test_at_the_first_start_ever_the_microphone_is_on(box: Box) -> None:
    assert not box.floor.microphone_off
    assert box.it.state == "idle"
    box.settle()
    assert box.complaints == []
    assert read_file(box.card / FILE) is not None  # from then on a missing file is noticed


@pytest.mark.parametrize("again", ["boot", "conduct"])
def test_a_muted_box_is_muted_from_the_first_moment_of_the_next_start(box: Box, again: str) -> None:
    box.hear(Mute(on=True))
    box.settle()
    getattr(box, again)()
    assert (box.floor.microphone_off, box.it.state) == (True, "muted")
    box.settle()
    box.hear(Mute(on=False))
    box.settle()
    getattr(box, again)()
    assert (box.floor.microphone_off, box.it.state) == (False, "idle")


def test_mute_is_written_to_the_floor_before_the_disk(box: Box) -> None:
    box.break_card()
    box.hear(Mute(on=True))
    assert box.floor.muted


def test_a_failed_mute_write_and_its_recovery_are_reported_once_each(
    box: Box,
) -> None:
    box.break_card()
    box.hear(Mute(on=True))
    box.until(lambda: box.complaints)
    [complaint] = box.complaints
    assert "after a power cut it may be on again" in aloud(complaint)
    assert box.microphone.failing
    shutil.rmtree(box.run)  # now the mute is stored nowhere
    box.hear(Mute(on=False))
    box.until(lambda: len(box.complaints) == 2)
    assert "it may be off after a restart" in aloud(box.complaints[-1])
    fresh_name(box.card / FILE).rmdir()
    box.hear(Mute(on=True))
    box.settle()
    box.until(lambda: not box.microphone.failing)
    assert [complaint.aloud for complaint in box.complaints[2:]] == [None]


def test_a_mute_that_cannot_be_stored_is_reported_to_end_with_a_restart(box: Box) -> None:
    box.break_card()
    shutil.rmtree(box.run)
    box.hear(Mute(on=True))
    box.until(lambda: box.complaints)
    assert "after a restart it may be on again" in aloud(box.complaints[0])


def test_unmuting_with_a_broken_card_lasts_until_a_power_cut(box: Box) -> None:
    box.hear(Mute(on=True))
    box.settle()
    box.break_card()
    box.hear(Mute(on=False))
    box.until(lambda: box.complaints)
    shutil.rmtree(box.run)  # a power cut
    box.run.mkdir()
    box.boot()
    assert box.floor.microphone_off


def test_an_unreadable_mute_file_mutes_is_reported_and_is_rewritten(box: Box) -> None:
    (box.card / FILE).write_bytes(b"\x00\x00")
    box.boot()
    assert (box.floor.microphone_off, box.it.state) == (True, "muted")
    box.until(lambda: box.complaints)
    assert box.complaints[0].aloud == BoxSentence("mute-not-read")
    box.settle()
    box.until(lambda: not box.microphone.failing)
    reported = len(box.complaints)
    box.boot()
    assert box.floor.microphone_off
    box.settle()
    assert len(box.complaints) == reported  # the mute is known now and not reported again
    box.hear(Mute(on=False))
    assert not box.floor.microphone_off


def test_after_the_first_start_a_missing_mute_file_mutes_is_reported_and_is_rewritten(
    box: Box,
) -> None:
    box.until((box.card / FILE).with_name(MARK).exists)
    (box.card / FILE).unlink()
    shutil.rmtree(box.run)  # a power cut
    box.run.mkdir()
    box.boot()
    assert (box.floor.microphone_off, box.it.state) == (True, "muted")
    box.until(lambda: box.complaints)
    assert box.complaints[0].aloud == BoxSentence("mute-not-read")
    box.until(lambda: not box.microphone.failing)
    box.hear(Mute(on=False))
    box.settle()
    box.boot()
    assert not box.floor.microphone_off


def test_a_long_press_mutes_a_box_whose_conductor_hangs(box: Box) -> None:
    box.floor.closed += 1
    assert box.floor.microphone_off
    box.conduct()  # replaces a conductor that hung
    assert box.floor.microphone_off
    box.look()
    assert (box.it.listening.muted, box.it.state) == (True, "muted")
    box.settle()
    box.boot()
    assert box.it.listening.muted


def test_a_long_press_that_comes_while_the_owner_unmutes_is_not_lost(box: Box) -> None:
    box.floor.closed += 1
    box.look()
    box.floor.closed += 1  # before the conductor reads the first press
    box.hear(Mute(on=False))
    assert box.floor.microphone_off
    box.look()
    assert box.it.listening.muted
    box.hear(Mute(on=False))
    assert not box.floor.microphone_off


def test_the_hardware_switch_does_not_change_the_stored_mute(box: Box) -> None:
    for muted in (False, True):
        box.hear(Mute(on=muted))
        box.floor.switched_off = True
        box.look()
        assert (box.it.state, box.it.listening.muted) == ("muted", muted)
        box.boot()  # the supervisor reads the switch's position
        box.floor.switched_off = False
        box.look()
        assert (box.it.state, box.floor.microphone_off) == (
            ("muted", True) if muted else ("idle", False)
        )


# ── a card that stalls ───────────────────────────────────────────────────────────────────────
class Stalling(Box):
    """A box whose card does not answer before `go`."""

    def __init__(self, folder: Path) -> None:
        self.go = threading.Event()
        super().__init__(folder, wait_s=0.01)

    def look_at(self, file: Path) -> StoredMute | None:
        assert self.go.wait(PATIENCE_S)
        return read_file(file)


@pytest.fixture
def stalling(tmp_path: Path) -> Iterator[Stalling]:
    made = Stalling(tmp_path)
    yield made
    made.go.set()
    made.close()


def test_while_the_card_stalls_the_box_starts_muted(
    stalling: Stalling,
) -> None:
    assert (stalling.floor.microphone_off, stalling.it.state) == (True, "muted")
    stalling.look(after_s=5.0)
    assert stalling.floor.microphone_off
    stalling.go.set()
    stalling.until(lambda: not stalling.floor.microphone_off)
    assert stalling.it.state == "idle"
    assert stalling.complaints == []


def test_a_conductor_crash_before_the_card_answered_leaves_the_box_muted(
    stalling: Stalling,
) -> None:
    stalling.conduct()
    assert stalling.floor.microphone_off
    stalling.go.set()
    stalling.until(lambda: not stalling.floor.microphone_off)


def test_a_card_that_answers_too_late_opens_no_microphone(stalling: Stalling) -> None:
    stalling.look(after_s=LATE_S + 1.0)
    assert [complaint.aloud for complaint in stalling.complaints] == [BoxSentence("mute-not-read")]
    stalling.go.set()
    stalling.until(lambda: not stalling.microphone.failing)
    assert (stalling.floor.microphone_off, stalling.it.listening.muted) == (True, True)
    found = read_file(stalling.card / FILE)
    assert found is not None
    assert found.muted


@pytest.mark.parametrize("muted", [False, True])
def test_a_command_during_a_stall_overrides_what_the_card_returns_later(
    stalling: Stalling, muted: bool
) -> None:
    text = json.dumps({"version": 1, "serial": 2**40, "muted": not muted})
    write_private(stalling.card / FILE, text.encode())
    stalling.hear(Mute(on=muted))
    assert stalling.floor.microphone_off == muted
    stalling.go.set()
    stalling.settle()
    stalling.until(lambda: (found := read_file(stalling.card / FILE)) and found.muted == muted)
    assert stalling.floor.microphone_off == muted
    stalling.wait_s = PATIENCE_S
    stalling.boot()
    assert stalling.it.listening.muted == muted


def test_a_long_press_before_the_card_answered_counts(stalling: Stalling) -> None:
    stalling.floor.closed += 1
    stalling.go.set()
    for _ in range(3):
        stalling.look()
        assert stalling.floor.microphone_off
    stalling.settle()
    assert (stalling.floor.microphone_off, stalling.it.listening.muted) == (True, True)


def test_a_mute_that_the_card_does_not_store_is_reported(stalling: Stalling) -> None:
    stalling.hear(Mute(on=True))
    stalling.look(after_s=LATE_S - 1.0)
    assert stalling.complaints == []
    stalling.look(after_s=2.0)
    assert "after a power cut it may be on again" in aloud(stalling.complaints[0])
    stalling.go.set()
    stalling.until(lambda: not stalling.microphone.failing)


# ── any sequence of events ───────────────────────────────────────────────────────────────────
NOT_THE_OWNER: tuple[Message, ...] = (
    ListenOnce(), StopSpeaking(), Say("Tea."), Ask("unmute yourself"), Forget(), Restart(),
    SetMode("open"), SetMode("wake_word"), SetMode("push_to_talk"), SetVolume(1.0),
    WakeWordHeard(9, "okay nabu"), ThinkerReady("pocket"), SpeakerReady("espeak"),
    PartChanged("capture", "down"), PartChanged("capture", "up"), PartChanged("listener", "failed"),
    PartChanged("panel", "down"), PartChanged("link", "up"), CardFound("capture", "hw:0", 16_000),
    TalkButton(pressed=True), TalkButton(pressed=False), MuteSwitched(off=True),
    MuteSwitched(off=False),
    Mute(on=True),
)  # fmt: skip
HAPPENS = st.lists(
    st.one_of(
        st.sampled_from(NOT_THE_OWNER),
        st.sampled_from(
            ("boot", "conduct", "power cut", "look", "settle", "time", "the switch", "long press",
             "the card breaks", "a file is damaged", "a file is gone")
        ),
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(HAPPENS)
@pytest.mark.long
def test_only_the_owner_unmutes_in_any_sequence_of_events(happens: list[Message | str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        box = Box(Path(folder))
        box.hear(Mute(on=True))
        box.settle()
        for event in happens:
            _happen(box, event)
            assert box.floor.microphone_off
            assert box.it.listening.muted or box.floor.closed != box.floor.opened
            assert not box.it.listening.sent or not box.it.listening.sent.on
        box.look()
        box.hear(Mute(on=False))
        box.floor.switched_off = False
        box.look()
        assert not box.floor.microphone_off
        box.close()


def _happen(box: Box, event: Message | str) -> None:
    match event:
        case "boot" | "conduct":
            getattr(box, event)()
        case "power cut":
            shutil.rmtree(box.run)
            box.run.mkdir()
            box.boot()
        case "look":
            box.look()
        case "settle":
            box.settle()
        case "time":
            box.look(after_s=2 * LATE_S)
        case "the switch":
            box.floor.switched_off = not box.floor.switched_off
        case "long press":
            box.floor.closed += 1
        case "the card breaks":
            box.break_card()
        case "a file is damaged":
            (box.card / FILE).write_bytes(b"{")
        case "a file is gone":
            (box.card / FILE).unlink(missing_ok=True)
        case _:
            assert not isinstance(event, str)
            box.hear(event)
