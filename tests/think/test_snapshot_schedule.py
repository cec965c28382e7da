"""When the next start is prepared and when that is written: by times alone."""

from __future__ import annotations

from appliance.think.snapshot_schedule import MOST_AN_HOUR, PREPARE_S, WRITE_S, Standby


def prepared(standby: Standby, at_s: float) -> None:
    assert standby.due(at_s) == "ask"
    standby.asked()
    standby.came()
    assert standby.due(at_s) == "prepare"
    standby.prepared()


def test_nothing_is_done_before_the_conversation_rests() -> None:
    standby = Standby()
    standby.talked(100.0)
    assert standby.due(100.0 + PREPARE_S - 0.1) == "nothing"
    assert standby.due(100.0 + PREPARE_S) == "ask"


def test_what_is_prepared_is_written_later_and_once() -> None:
    standby = Standby()
    standby.talked(0.0)
    prepared(standby, PREPARE_S)
    assert standby.due(WRITE_S - 0.1) == "nothing"
    assert standby.due(WRITE_S) == "write"
    standby.wrote(WRITE_S, anything=True)
    assert standby.due(WRITE_S + 1e6) == "nothing"


def test_a_word_begins_it_anew_wherever_it_was() -> None:
    standby = Standby()
    standby.talked(0.0)
    assert standby.due(PREPARE_S) == "ask"
    standby.asked()
    standby.talked(30.0)
    standby.came()  # of before that word
    assert standby.due(30.0 + PREPARE_S) == "ask"
    prepared(standby, 30.0 + PREPARE_S)
    standby.talked(60.0)
    assert standby.due(WRITE_S + 30.0) == "ask"


def test_no_more_than_so_many_are_written_in_an_hour() -> None:
    standby, written = Standby(), []
    for minute in range(3 * 60):  # of a day on which somebody talks every six minutes
        now_s = 60.0 * minute
        if minute % 6 == 0:
            standby.talked(now_s)
            continue
        if standby.due(now_s) == "ask":
            prepared(standby, now_s)
        if standby.due(now_s) == "write":
            standby.wrote(now_s, anything=True)
            written.append(now_s)
    assert len(written) == 3 * MOST_AN_HOUR
    windows = zip(written, written[MOST_AN_HOUR:], strict=False)
    assert all(after - before >= 3600.0 for before, after in windows)


def test_what_was_not_new_counts_for_nothing() -> None:
    standby = Standby()
    for number in range(3 * MOST_AN_HOUR):
        standby.talked(400.0 * number)
        prepared(standby, 400.0 * number + PREPARE_S)
        assert standby.due(400.0 * number + WRITE_S) == "write"
        standby.wrote(400.0 * number + WRITE_S, anything=False)
