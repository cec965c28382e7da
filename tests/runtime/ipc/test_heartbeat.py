"""Heartbeats: the age of the last beat, and readiness."""

from __future__ import annotations

from appliance.runtime.ipc import heartbeat
from appliance.runtime.ipc.heartbeat import Heartbeat


def test_a_heartbeat_ages_until_the_next_beat() -> None:
    fd = heartbeat.create(3)
    hearts = [Heartbeat(fd, slot) for slot in range(3)]
    for heart in hearts:
        heart.reset(1_000_000_000)
    hearts[1].beat(3_000_000_000)
    assert [h.age_s(4_000_000_000) for h in hearts] == [3.0, 1.0, 3.0]


def test_a_restarted_process_is_not_ready_until_it_reports_so() -> None:
    heart = Heartbeat(heartbeat.create(1), 0)
    heart.mark_ready()
    assert heart.is_ready
    heart.reset(0)
    assert not heart.is_ready
