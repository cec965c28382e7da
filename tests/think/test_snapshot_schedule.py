"""When the next start is prepared and when that is written: by times alone."""

from __future__ import annotations

from appliance.think.snapshot_schedule import MOST_AN_HOUR, PREPARE_S, WRITE_S, SnapshotSchedule


def prepared(snapshot_schedule: SnapshotSchedule, at_s: float) -> None:
    assert snapshot_schedule.due(at_s) == "ask"
    snapshot_schedule.mark_requested()
    snapshot_schedule.mark_received()
    assert snapshot_schedule.due(at_s) == "prepare"
    snapshot_schedule.mark_prepared()


def test_nothing_is_done_before_the_conversation_rests() -> None:
    snapshot_schedule = SnapshotSchedule()
    snapshot_schedule.restart(100.0)
    assert snapshot_schedule.due(100.0 + PREPARE_S - 0.1) == "nothing"
    assert snapshot_schedule.due(100.0 + PREPARE_S) == "ask"


def test_what_is_prepared_is_written_later_and_once() -> None:
    snapshot_schedule = SnapshotSchedule()
    snapshot_schedule.restart(0.0)
    prepared(snapshot_schedule, PREPARE_S)
    assert snapshot_schedule.due(WRITE_S - 0.1) == "nothing"
    assert snapshot_schedule.due(WRITE_S) == "write"
    snapshot_schedule.mark_written(WRITE_S, anything=True)
    assert snapshot_schedule.due(WRITE_S + 1e6) == "nothing"


def test_a_word_begins_it_anew_wherever_it_was() -> None:
    snapshot_schedule = SnapshotSchedule()
    snapshot_schedule.restart(0.0)
    assert snapshot_schedule.due(PREPARE_S) == "ask"
    snapshot_schedule.mark_requested()
    snapshot_schedule.restart(30.0)
    snapshot_schedule.mark_received()  # of before that word
    assert snapshot_schedule.due(30.0 + PREPARE_S) == "ask"
    prepared(snapshot_schedule, 30.0 + PREPARE_S)
    snapshot_schedule.restart(60.0)
    assert snapshot_schedule.due(WRITE_S + 30.0) == "ask"


def test_no_more_than_so_many_are_written_in_an_hour() -> None:
    snapshot_schedule, written = SnapshotSchedule(), []
    for minute in range(3 * 60):  # of a day on which somebody talks every six minutes
        now_s = 60.0 * minute
        if minute % 6 == 0:
            snapshot_schedule.restart(now_s)
            continue
        if snapshot_schedule.due(now_s) == "ask":
            prepared(snapshot_schedule, now_s)
        if snapshot_schedule.due(now_s) == "write":
            snapshot_schedule.mark_written(now_s, anything=True)
            written.append(now_s)
    assert len(written) == 3 * MOST_AN_HOUR
    windows = zip(written, written[MOST_AN_HOUR:], strict=False)
    assert all(after - before >= 3600.0 for before, after in windows)


def test_what_was_not_new_counts_for_nothing() -> None:
    snapshot_schedule = SnapshotSchedule()
    for number in range(3 * MOST_AN_HOUR):
        snapshot_schedule.restart(400.0 * number)
        prepared(snapshot_schedule, 400.0 * number + PREPARE_S)
        assert snapshot_schedule.due(400.0 * number + WRITE_S) == "write"
        snapshot_schedule.mark_written(400.0 * number + WRITE_S, anything=False)
