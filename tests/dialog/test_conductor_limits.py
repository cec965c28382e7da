"""The conductor process survives every message type at its largest."""

from __future__ import annotations

import errno
import time
from pathlib import Path
from typing import Any, cast

import pytest

from appliance.cli import tell
from appliance.dialog.conductor import Conductor
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.messages import commands
from appliance.messages.commands import Ask, StopSpeaking
from appliance.messages.limits import MAX_WORDS
from appliance.messages.playback import PlaybackFinished
from appliance.messages.registry import Message
from appliance.messages.thinking import (
    Recall,
    RecallWanted,
    Think,
)
from appliance.messages.trying import ShowLight
from appliance.runtime import memory_files
from appliance.runtime.ipc.channel import Channel, pair
from appliance.runtime.process_table import PROCESSES
from appliance.runtime.supervision.backoff import FAILED_AT
from appliance.runtime.supervision.child import Child
from appliance.runtime.worker import Worker
from tests.dialog.conductor_box import Box, settings_in
from tests.dialog.desk import Desk
from tests.messages.largest import KINDS, WIDE, build

STAYS_S = 2.0  # a conductor that reads of its own failure ends within milliseconds
WHOLE_NUMBERS = (0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**64 - 1)


# Restart is left out: the supervisor would restart the box, as it should.
TAKEN = [kind for kind in KINDS if kind is not commands.Restart]
PEERS = ("room", "listener", "thinker", "playback", "speaker", "capture")


def drain(box: Box) -> None:
    """Read all messages sent to the parts and the watchers."""
    for mail in box.channels.values():
        for _ in mail.receive_all():
            pass


def child_of(box: Box) -> Child:
    child = box.supervisor.parts["conductor"].child
    assert child is not None
    return child


def send_from_every_peer(box: Box, message: Message) -> None:
    """Send the message from every peer, draining full channels."""
    for peer in PEERS:
        mail = box.channels[peer]
        while not mail.send(message):
            assert child_of(box).poll() is None
            drain(box)
            box.supervisor.run_once(0.001)


@pytest.mark.process
def test_the_conductor_survives_every_message_type_at_its_largest(box: Box) -> None:
    conductor = child_of(box)
    for number in WHOLE_NUMBERS:
        for letter in ("x", WIDE):
            for kind in TAKEN:
                send_from_every_peer(box, build(kind, letter, number))
                box.supervisor.run_once(0.0)
                assert conductor.poll() is None, (kind.__name__, letter, number)
                drain(box)
    tell.send_command(box.settings, StopSpeaking())
    assert child_of(box) is conductor
    assert conductor.poll() is None


@pytest.mark.process
def test_a_conductor_with_two_hundred_long_turns_recalls_what_fits(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, recall_turns=200)
    memory = Memory(memory_files.path(settings), 1000)
    for number in range(200):
        asked, heard = f"{number} " + "why? " * 20_000, WIDE * 357
        memory.remember(
            RememberedTurn("2026-01-01T00:00:00+00:00", number, asked, 1.0, heard, True, "m")
        )
    memory.close()
    box = Box(settings)
    try:
        box.say("thinker", RecallWanted())
        turns = box.get("thinker", Recall).turns
        assert 10 < len(turns) < 200
        assert turns[-1][2] == WIDE * 357
        assert all(len(asked) == MAX_WORDS for asked, _, _ in turns)
    finally:
        box.supervisor.stop_all()
        box.supervisor.close()


@pytest.mark.process
def test_a_typed_question_of_maximum_length_is_asked_and_remembered(box: Box) -> None:
    question = WIDE * MAX_WORDS
    tell.send_command(box.settings, Ask(question))
    assert box.get("thinker", Think).text == question
    box.answer("Yes.")
    box.say("playback", PlaybackFinished(box.floor.turn, 16_000, 0))
    box.state("idle")
    box.say("thinker", RecallWanted())
    assert box.get("thinker", Recall).turns == ((question, "", "Yes."),)


@pytest.mark.process
def test_a_conductor_that_was_killed_six_times_comes_up_and_stays_up(box: Box) -> None:
    """The supervisor counts it as failed from the fifth end on."""
    part = box.supervisor.parts["conductor"]
    for starts in range(1, FAILED_AT + 2):
        assert part.starts == starts
        box.kill()
        box.until(lambda starts=starts: part.starts > starts and part.announced)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    assert part.back_off.strikes(time.monotonic()) > FAILED_AT
    conductor = child_of(box)
    box.wait(STAYS_S)
    assert child_of(box) is conductor
    tell.send_command(box.settings, StopSpeaking())
    assert part.starts == FAILED_AT + 2
    assert conductor.poll() is None


class FaultyChannel:
    """A channel to a part; it raises at the next `faults` messages."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.faults = 0

    def send(self, message: Message) -> bool:
        if self.faults:
            self.faults -= 1
            raise OSError(errno.EBADF, "Bad file descriptor")
        self.sent.append(message)
        return True


def test_a_message_whose_handling_fails_is_dropped_and_the_next_one_is_handled(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    desk = cast("Any", Desk("conductor", settings_in(tmp_path)))
    panel = FaultyChannel()
    desk.name, desk.files = "conductor", desk.settings
    peers = ("supervisor", *(row.name for row in PROCESSES))
    desk.channels = {peer: Channel(pair()[0]) for peer in peers} | {"panel": panel}
    mail = {"page": [ShowLight("listening"), ShowLight("thinking")]}
    desk.pop_messages = lambda peer: mail.pop(peer, [])
    conductor = Conductor(cast("Worker", desk))
    try:
        panel.faults = 1
        conductor.handle_mail(["page"])
    finally:
        conductor.close()
        desk.close()
    assert ShowLight("thinking") in panel.sent
    assert ShowLight("listening") not in panel.sent
    assert "a ShowLight from page was dropped" in caplog.text
