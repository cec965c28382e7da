"""When the snapshot for the next start is prepare and written, by times only."""

from __future__ import annotations

from appliance.think.snapshot_schedule import MOST_AN_HOUR, PREPARE_S, WRITE_S, SnapshotSchedule


def prepare(schedule: SnapshotSchedule, at_s: float) -> None:
    assert schedule.due(at_s) == "ask"
    schedule.mark_requested()
    schedule.mark_received()
    assert schedule.due(at_s) == "prepare"
    schedule.mark_prepared()


def test_nothing_is_done_before_the_conversation_pauses() -> None:
    schedule = SnapshotSchedule()
    schedule.restart(100.0)
    assert schedule.due(100.0 + PREPARE_S - 0.1) == "nothing"
    assert schedule.due(100.0 + PREPARE_S) == "ask"


def test_a_prepared_snapshot_is_written_later_and_once() -> None:
    schedule = SnapshotSchedule()
    schedule.restart(0.0)
    prepare(schedule, PREPARE_S)
    assert schedule.due(WRITE_S - 0.1) == "nothing"
    assert schedule.due(WRITE_S) == "write"
    schedule.mark_written(WRITE_S, anything=True)
    assert schedule.due(WRITE_S + 1e6) == "nothing"


def test_a_turn_restarts_the_schedule_at_any_step() -> None:
    schedule = SnapshotSchedule()
    schedule.restart(0.0)
    assert schedule.due(PREPARE_S) == "ask"
    schedule.mark_requested()
    schedule.restart(30.0)
    schedule.mark_received()  # requested before the restart
    assert schedule.due(30.0 + PREPARE_S) == "ask"
    prepare(schedule, 30.0 + PREPARE_S)
    schedule.restart(60.0)
    assert schedule.due(WRITE_S + 30.0) == "ask"


def test_the_writes_per_hour_are_limited() -> None:
    schedule, written = SnapshotSchedule(), []
    for minute in range(3 * 60):  # a turn every six minutes
        now_s = 60.0 * minute
        if minute % 6 == 0:
            schedule.restart(now_s)
            continue
        if schedule.due(now_s) == "ask":
            prepare(schedule, now_s)
        if schedule.due(now_s) == "write":
            schedule.mark_written(now_s, anything=True)
            written.append(now_s)
    assert len(written) == 3 * MOST_AN_HOUR
    windows = zip(written, written[MOST_AN_HOUR:], strict=False)
    assert all(after - before >= 3600.0 for before, after in windows)


def test_a_write_of_nothing_new_does_not_count() -> None:
    schedule = SnapshotSchedule()
    for number in range(3 * MOST_AN_HOUR):
        schedule.restart(400.0 * number)
        prepare(schedule, 400.0 * number + PREPARE_S)
        assert schedule.due(400.0 * number + WRITE_S) == "write"
        schedule.mark_written(400.0 * number + WRITE_S, anything=False)
