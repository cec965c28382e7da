"""What a rehearsal leaves behind: messages by kind, and what a process has cost."""

from __future__ import annotations

import os

import pytest

from appliance.messages.commands import StateChanged, StopSpeaking
from appliance.messages.registry import ObservedMessage
from appliance.settings import load_defaults
from lab.sim.rehearsal_recording import RehearsalRecording, cost_of
from lab.sim.scene import Scene


def test_messages_of_one_kind_come_in_order_with_the_index_of_their_time() -> None:
    idle, speaking = StateChanged("idle", 1, 0), StateChanged("speaking", 2, 9)
    made = RehearsalRecording(Scene(), load_defaults())
    made.mail = [
        (10, ObservedMessage(0, "conductor", "room", idle)),
        (20, ObservedMessage(0, "room", "conductor", StopSpeaking())),
        (30, ObservedMessage(0, "conductor", "room", speaking)),
    ]
    assert list(made.messages_of(StateChanged)) == [(10, idle), (30, speaking)]
    assert list(made.messages_of(StopSpeaking)) == [(20, StopSpeaking())]


def test_a_process_costs_time_and_memory_and_one_that_is_gone_has_no_cost() -> None:
    found = cost_of(os.getpid(), 3)
    assert found.cpu_s > 0
    assert found.peak_mib > 10
    assert found.restarts == 3
    with pytest.raises(Exception, match="1073741824"):
        cost_of(1 << 30, 0)
