"""A canceller that removes nothing searches for an echo at once, at a rise and periodically."""

from __future__ import annotations

from appliance.hear.aec.echo_search import AGAIN_S, RISE, RISES_AFTER_S, EchoSearch

SENT, NOISE = 1e-2, 1e-6  # mean squares


def tries(
    search: EchoSearch, heard: float, seconds: float, *, resting: bool = False
) -> list[float]:
    """Seconds at which a search is due, when `is_due` is called ten times a second."""
    return [
        number / 10
        for number in range(round(10 * seconds))
        if search.is_due(heard, SENT, 0.1, resting=resting)
    ]


def test_the_first_search_is_due_at_once_and_the_next_half_a_minute_later() -> None:
    first, second = tries(EchoSearch(), NOISE, AGAIN_S + 1)
    assert first == 0
    assert abs(second - AGAIN_S) < 0.2


def test_a_resting_canceller_in_silence_searches_once() -> None:
    assert tries(EchoSearch(), NOISE, 10 * AGAIN_S, resting=True) == [0]


def test_a_rise_of_the_level_makes_a_search_due_at_once_resting_or_not() -> None:
    for resting in (True, False):
        search = EchoSearch()
        tries(search, NOISE, 10, resting=resting)
        assert tries(search, 1.5 * RISE * NOISE, 5, resting=resting)[0] == 0
        assert tries(search, 0.5 * RISE * NOISE, 5, resting=resting) == []


def test_long_speech_over_the_box_causes_a_limited_number_of_searches() -> None:
    search = EchoSearch()
    tries(search, NOISE, 10)
    made = tries(search, 100 * NOISE, 20)
    assert 0 < len(made) <= 20 / RISES_AFTER_S


def test_a_noise_that_persists_is_no_longer_a_rise() -> None:
    search = EchoSearch()
    tries(search, NOISE, 10, resting=True)
    tries(search, 100 * NOISE, 60, resting=True)
    assert tries(search, 100 * NOISE, 60, resting=True) == []


def test_steady_noise_under_a_voice_of_varying_level_is_not_a_rise() -> None:
    search, due = EchoSearch(), []
    for number in range(600):
        loud = 10 ** (-0.2 * (number % 10))  # by 18 dB
        due.append(search.is_due(NOISE, SENT * loud, 0.1, resting=True))
    assert due.index(True) == 0
    assert sum(due) == 1
