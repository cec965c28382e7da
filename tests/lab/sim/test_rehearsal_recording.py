"""The recording of a rehearsal: messages by kind, and the cost of each process."""

from __future__ import annotations

import os

import pytest

from appliance.messages.commands import StateChanged, StopSpeaking
from appliance.messages.registry import ObservedMessage
from appliance.settings import load_defaults
from lab.sim.rehearsal_recording import RehearsalRecording, cost_of
from lab.sim.scene import Scene


def test_messages_of_one_kind_are_in_order_with_their_card_index() -> None:
    idle, speaking = StateChanged("idle", 1, 0), StateChanged("speaking", 2, 9)
    recording = RehearsalRecording(Scene(), load_defaults())
    recording.mail = [
        (10, ObservedMessage(0, "conductor", "room", idle)),
        (20, ObservedMessage(0, "room", "conductor", StopSpeaking())),
        (30, ObservedMessage(0, "conductor", "room", speaking)),
    ]
    assert list(recording.messages_of(StateChanged)) == [(10, idle), (30, speaking)]
    assert list(recording.messages_of(StopSpeaking)) == [(20, StopSpeaking())]


def test_a_running_process_has_a_cost_and_an_ended_one_raises() -> None:
    cost = cost_of(os.getpid(), 3)
    assert cost.cpu_s > 0
    assert cost.peak_mib > 10
    assert cost.restarts == 3
    with pytest.raises(Exception, match="1073741824"):
        cost_of(1 << 30, 0)
