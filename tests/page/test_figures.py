"""p50 and p95 of stops and answers, from the card's own samples."""

from __future__ import annotations

from appliance.messages.hearing import Onset, SpeechEnded
from appliance.messages.playback import PlaybackPaused, PlaybackStarted
from appliance.page.figures import KEPT, Figures, percentile


def stop(figures: Figures, serial: int, ms: int) -> bool:
    figures.handle(Onset(serial, 16_000 * serial, speaking=True))
    return figures.handle(PlaybackPaused(1, serial, 0, 16_000 * serial + 16 * ms))


def test_a_stop_time_is_from_the_onset_to_the_first_silent_sample() -> None:
    figures = Figures()
    assert [stop(figures, serial, 10 * serial) for serial in range(1, 21)] == [True] * 20
    assert figures.summary()["stops"] == {"n": 20, "p50": 100, "p95": 190}


def test_a_pause_without_its_onset_is_not_counted() -> None:
    figures = Figures()
    figures.handle(Onset(1, 0, speaking=False))
    assert not figures.handle(PlaybackPaused(1, 1, 0, 1600))
    figures.handle(Onset(2, 0, speaking=True))
    assert not figures.handle(PlaybackPaused(1, 3, 0, 1600))
    assert figures.summary()["stops"] == {"n": 0, "p50": None, "p95": None}


def test_a_loudspeaker_silent_before_the_onset_gives_no_stop_time() -> None:
    figures = Figures()
    assert not stop(figures, 1, -418)
    assert figures.summary()["stops"] == {"n": 0, "p50": None, "p95": None}
    assert stop(figures, 2, 0)


def test_an_answer_time_is_from_the_end_of_speech_to_the_first_sample() -> None:
    figures = Figures()
    figures.handle(SpeechEnded(1, 16_000, 8000, last=False))
    assert not figures.handle(PlaybackStarted(1, 20_000))
    figures.handle(SpeechEnded(1, 16_000, 8000, last=True))
    assert figures.handle(PlaybackStarted(2, 28_800))
    assert not figures.handle(PlaybackStarted(3, 32_000)), "a second answer had no question"
    assert figures.summary()["answers"] == {"n": 1, "p50": 800, "p95": 800}


def test_a_press_without_speech_is_not_a_question() -> None:
    figures = Figures()
    figures.handle(SpeechEnded(1, 16_000, 0, last=True))
    assert not figures.handle(PlaybackStarted(1, 17_000))


def test_a_year_of_figures_takes_no_more_memory_than_a_day() -> None:
    figures = Figures()
    for serial in range(1, KEPT + 100):
        stop(figures, serial, 20)
    assert len(figures.stops_ms) == KEPT


def test_the_nearest_rank_is_a_measured_value() -> None:
    assert percentile([], 0.5) is None
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.0
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95.0
