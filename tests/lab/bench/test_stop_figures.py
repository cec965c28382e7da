"""A stop read from a synthetic track, and the tables of several stops."""

from __future__ import annotations

import numpy as np

from appliance.pcm import RATE_HZ, Samples
from lab.bench.stop_figures import (
    GAP,
    GAPPED,
    MS,
    SILENT,
    WITHIN,
    StopMeasurement,
    read_stop,
    sheets,
)

ONSET = 200 * MS


def track(silent_at: int, until: int = 3 * RATE_HZ) -> Samples:
    """A tone that is cut at sample `silent_at`."""
    tone = 8000 * np.sin(np.arange(until) * 0.7) + 500
    tone[silent_at:] = 0
    cut: Samples = tone.astype(np.int16)
    return cut


def test_a_stop_is_the_last_audible_sample_after_the_onset() -> None:
    cut = ONSET + 40 * MS
    assert read_stop(track(cut), ONSET, [cut]) == StopMeasurement(last=40 * MS, silent=cut)


def test_a_fade_below_60_dbfs_counts_as_silence() -> None:
    faded = track(ONSET + 50 * MS)
    faded[ONSET + 40 * MS :] = np.clip(faded[ONSET + 40 * MS :], -33, 33)
    heard = read_stop(faded, ONSET, [ONSET + 50 * MS])
    assert heard.last is not None
    assert 39 * MS < heard.last <= 40 * MS


def test_a_box_that_was_silent_before_the_word_does_not_count() -> None:
    assert read_stop(track(ONSET - 60 * MS), ONSET, [ONSET - 60 * MS]).left_out == SILENT


def test_a_box_that_stopped_just_before_the_word_has_not_missed_it() -> None:
    early = ONSET - 30 * MS
    assert read_stop(track(early), ONSET, [early]).left_out == SILENT
    goes_on = track(3 * RATE_HZ)
    goes_on[early : ONSET + 10 * MS] = 0
    assert read_stop(goes_on, ONSET, [early]).missed


def test_a_stop_in_a_gap_of_the_boxs_own_speech_does_not_count() -> None:
    end = ONSET + 20 * MS
    assert read_stop(track(end), ONSET, [end + GAP + 1]).left_out == GAPPED
    assert read_stop(track(end), ONSET, [end + GAP]).last == 20 * MS


def test_a_box_that_keeps_talking_has_missed_the_word() -> None:
    assert read_stop(track(3 * RATE_HZ), ONSET, []) == StopMeasurement(missed=True)
    late = ONSET + WITHIN + 1
    assert read_stop(track(late), ONSET, [late]).missed


def test_a_short_dropout_is_no_stop() -> None:
    cut = ONSET + 200 * MS
    assert read_stop(track(cut), ONSET, [ONSET + 10 * MS, cut]).silent == cut


def test_the_tables_have_a_row_for_each_device_and_kind_of_word() -> None:
    ours = StopMeasurement(last=30 * MS, decided=15 * MS).as_data()
    article = StopMeasurement(last=100 * MS).as_data()
    missed = StopMeasurement(missed=True).as_data()
    silent = StopMeasurement(left_out=SILENT).as_data()
    events = [{"by": "ours", "word": "real"} | data for data in (ours, missed, silent)]
    events.append({"by": "article", "word": "real"} | article)
    stop, parts = sheets({"no echo": events}, noisy=3)
    assert stop.rows == [
        ("ours, real, no echo", 30.0, 30.0, 30.0, 30.0, 1, 1, "1 not audible"),
        ("article, real, no echo", 100.0, 100.0, 100.0, 100.0, 1, 0, "0"),
    ]
    assert [row[0:2] for row in parts.rows] == [
        ("onset → decided, real, no echo", 15.0), ("machine part, real, no echo", 15.0),
    ]  # fmt: skip
    assert any("3 clips" in note for note in stop.notes)
