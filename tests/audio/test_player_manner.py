"""Pausing by a press, ducking, and repeating the last word after a long pause."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.audio.word_boundary import LOOK_BACK
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.pcm import Samples
from tests.audio.player_bench import BLOCK, FIRST, RAMP, Bench, assert_smooth
from tests.audio.rig import noise


# ── a press ──────────────────────────────────────────────────────────────────────────────────
def test_a_press_pauses_the_answer_and_its_release_resumes_it() -> None:
    bench, answer = Bench(), noise(4000)
    bench.offer(1, answer)
    bench.go(5)
    bench.pressed = True
    bench.go(4)
    assert bench.of(PlaybackPaused) == [PlaybackPaused(1, 0, 400 + RAMP, FIRST + 400 + RAMP)]
    assert not bench.sent[400 + RAMP :].any()
    bench.pressed = False
    bench.go(1)
    assert bench.of(PlaybackResumed) == [PlaybackResumed(1, 0, 432, FIRST + 9 * BLOCK)]


def test_the_answer_resumes_only_when_both_the_press_and_the_hold_are_released() -> None:
    bench = Bench()
    bench.offer(1, noise(4000))
    bench.go(5)
    bench.pressed, bench.hold = True, 3
    bench.go(2)
    bench.pressed = False
    bench.go(2)
    bench.pressed, bench.released = True, 3
    bench.go(2)
    assert not bench.of(PlaybackResumed)
    bench.pressed = False
    bench.go(1)
    assert len(bench.of(PlaybackResumed)) == 1


def test_a_press_before_the_answer_delays_it() -> None:
    bench = Bench()
    bench.pressed = True
    bench.offer(1, noise(500))
    bench.go(5)
    assert not bench.events


# ── ducking ──────────────────────────────────────────────────────────────────────────────────
def test_ducking_continues_at_a_lower_level_without_losing_a_sample() -> None:
    bench, answer = Bench(duck=0.125), noise(4000)
    bench.offer(1, answer)
    bench.go(5)
    bench.hold = 1
    bench.go(5)
    bench.released = 1
    bench.go(45)
    assert [type(event) for event in bench.events] == [PlaybackStarted, PlaybackFinished]
    softly = bench.sent[400 + RAMP : 800]
    assert np.array_equal(softly, np.rint(answer[400 + RAMP : 800] * 0.125))
    assert np.array_equal(bench.sent[800 + RAMP : 4000], answer[800 + RAMP :])
    assert_smooth(bench, answer, RAMP)


def test_a_ducked_answer_that_is_dropped_is_faded_out() -> None:
    bench = Bench(duck=0.125)
    bench.offer(1, noise(4000))
    bench.go(5)
    bench.hold = 1
    bench.go(5)
    bench.turn = 2
    bench.go(2)
    assert bench.of(PlaybackStopped) == [PlaybackStopped(1, 800 + RAMP, FIRST + 800 + RAMP)]
    assert not bench.sent[800 + RAMP :].any()


def test_a_press_pauses_even_if_an_onset_would_only_duck() -> None:
    bench = Bench(duck=0.125)
    bench.offer(1, noise(4000))
    bench.go(5)
    bench.hold, bench.pressed = 1, True
    bench.go(5)
    assert bench.of(PlaybackPaused) == [PlaybackPaused(1, 1, 400 + RAMP, FIRST + 400 + RAMP)]


def test_an_answer_does_not_start_ducked() -> None:
    bench = Bench(duck=0.125)
    bench.hold = 1
    bench.offer(1, noise(500))
    bench.go(5)
    assert not bench.events


# ── the last word again ──────────────────────────────────────────────────────────────────────
def two_words(gap_from: int = 8000, gap: int = 1600, frames: int = 32_000) -> Samples:
    """Two words separated by a gap; the second begins at gap_from + gap."""
    answer = noise(frames)
    answer[gap_from : gap_from + gap] = 0
    return answer


def paused(bench: Bench, at_block: int, blocks: int) -> None:
    """Pause at `at_block` for `blocks`, then play ten more."""
    bench.go(at_block)
    bench.hold += 1
    bench.go(blocks)
    bench.released = bench.hold
    bench.go(10)


LONG = 24_000 // BLOCK + 1  # blocks of a pause that is long enough to repeat a word


def test_after_a_long_pause_the_last_word_is_repeated_and_reported() -> None:
    bench, answer = Bench(rewind_after=24_000), two_words()
    bench.offer(1, answer)
    paused(bench, 175, LONG)  # 14,000 samples: 4,400 of the second word
    (pause,), (resumed,) = bench.of(PlaybackPaused), bench.of(PlaybackResumed)
    assert 9600 - 480 <= resumed.position <= 9600  # one analysis frame, and a part of the gap
    assert resumed.position < pause.position
    index, position, _ = next(v for v in bench.voiced if v[0] >= resumed.index)
    assert (index, position) == (resumed.index, resumed.position)
    after = bench.from_index(resumed.index + RAMP, resumed.index + 800)
    assert np.array_equal(after, answer[position + RAMP : position + 800])


def test_the_samples_after_the_repeated_word_are_complete() -> None:
    bench, answer = Bench(rewind_after=24_000), two_words()
    bench.offer(1, answer)
    paused(bench, 175, LONG)
    bench.go(400)
    (resumed,), (finished,) = bench.of(PlaybackResumed), bench.of(PlaybackFinished)
    assert finished.position == len(answer)
    sent = bench.from_index(resumed.index + RAMP, finished.index + 1)
    assert np.array_equal(sent, answer[resumed.position + RAMP :])
    assert finished.index + 1 - resumed.index == len(answer) - resumed.position


@pytest.mark.parametrize(("rewind_after", "blocks"), [(24_000, LONG - 3), (0, LONG)])
def test_after_a_short_pause_or_if_switched_off_no_word_is_repeated(
    rewind_after: int, blocks: int
) -> None:
    bench = Bench(rewind_after=rewind_after)
    bench.offer(1, two_words())
    paused(bench, 175, blocks)
    assert bench.of(PlaybackResumed)[0].position == bench.of(PlaybackPaused)[0].position


def test_a_pause_between_two_words_repeats_nothing() -> None:
    bench = Bench(rewind_after=24_000)
    bench.offer(1, two_words(gap=3200))
    paused(bench, 130, LONG)  # 10,400 samples: 2,400 into the gap
    assert bench.of(PlaybackResumed)[0].position == bench.of(PlaybackPaused)[0].position


def test_the_repeated_part_is_limited_to_look_back() -> None:
    bench = Bench(rewind_after=24_000)
    bench.offer(1, noise(60_000))  # one endless word
    paused(bench, 500, LONG)
    assert bench.of(PlaybackPaused)[0].position - bench.of(PlaybackResumed)[0].position <= LOOK_BACK


def test_an_answer_paused_near_its_start_starts_again() -> None:
    bench, answer = Bench(rewind_after=24_000), noise(8000)
    bench.offer(1, answer)
    paused(bench, 20, LONG)
    assert bench.of(PlaybackResumed)[0].position == 0
    after = bench.of(PlaybackResumed)[0].index
    assert np.array_equal(bench.from_index(after + RAMP, after + 800), answer[RAMP:800])


def test_a_second_long_pause_in_the_repeated_word_rewinds_from_there() -> None:
    bench, answer = Bench(rewind_after=24_000), two_words()
    bench.offer(1, answer)
    paused(bench, 175, LONG)
    paused(bench, 30, LONG)
    bench.go(400)
    first, second = bench.of(PlaybackResumed)
    assert second.position <= first.position + 480
    (finished,) = bench.of(PlaybackFinished)
    sent = bench.from_index(second.index + RAMP, finished.index + 1)
    assert np.array_equal(sent, answer[second.position + RAMP :])


def test_a_stop_in_the_repeated_word_reports_its_position() -> None:
    bench = Bench(rewind_after=24_000)
    bench.offer(1, two_words())
    paused(bench, 175, LONG)
    bench.turn = 2
    bench.go(2)
    (stopped,), (resumed,) = bench.of(PlaybackStopped), bench.of(PlaybackResumed)
    assert stopped.position == resumed.position + 10 * BLOCK + RAMP


def test_with_word_marks_the_last_word_is_repeated_from_its_start() -> None:
    """Even without a gap in the sound; the repetition starts 20 ms earlier for the fade."""
    bench, answer = Bench(rewind_after=24_000), noise(32_000)
    bench.offer(1, answer, words=(0, 5000, 11_111, 15_000))
    paused(bench, 175, LONG)  # 14,000 samples
    bench.go(400)
    (resumed,), (finished,) = bench.of(PlaybackResumed), bench.of(PlaybackFinished)
    assert resumed.position == 11_111 - 320
    sent = bench.from_index(resumed.index + RAMP, finished.index + 1)
    assert np.array_equal(sent, answer[resumed.position + RAMP :])


def test_a_finished_word_is_not_repeated_in_spite_of_its_mark() -> None:
    bench = Bench(rewind_after=24_000)
    bench.offer(1, two_words(gap=3200), words=(0, 4000, 11_200))
    paused(bench, 130, LONG)  # 10,400 samples: 2,400 into the gap
    assert bench.of(PlaybackResumed)[0].position == bench.of(PlaybackPaused)[0].position


def test_a_word_mark_too_far_back_is_replaced_by_a_gap_in_the_sound() -> None:
    bench = Bench(rewind_after=24_000)
    bench.offer(1, two_words(gap_from=20_000), words=(0,))
    paused(bench, 325, LONG)  # 26,000 samples: LOOK_BACK is 19,200
    assert 21_600 - 480 <= bench.of(PlaybackResumed)[0].position <= 21_600


@pytest.mark.parametrize("words", [(), (0, 5000, 11_111, 15_000)])
def test_refused_blocks_do_not_change_where_the_last_word_begins(words: tuple[int, ...]) -> None:
    undisturbed, refused = (Bench(rewind_after=24_000) for _ in range(2))
    for bench in (undisturbed, refused):
        bench.offer(1, two_words(), words=words)
        for _ in range(175):
            if bench is refused:
                bench.refuse()
            bench.go(1)
        bench.hold += 1
        bench.go(LONG)
        bench.released = bench.hold
        if bench is refused:
            bench.refuse()  # the first block of the repeated word
        bench.go(400)
    (expected,), (actual,) = undisturbed.of(PlaybackResumed), refused.of(PlaybackResumed)
    assert actual.position == expected.position < undisturbed.of(PlaybackPaused)[0].position
    (finished,) = refused.of(PlaybackFinished)
    sent = refused.from_index(actual.index + RAMP, finished.index + 1)
    assert np.array_equal(sent, two_words()[actual.position + RAMP :])


def test_a_word_start_that_is_refused_repeatedly_displaces_no_other_mark() -> None:
    bench = Bench(rewind_after=24_000)
    bench.offer(1, noise(32_000), words=(0, 11_111, 15_000))
    bench.go(187)  # 14,960 samples
    for _ in range(20):
        bench.refuse()
    paused(bench, 0, LONG)
    assert bench.of(PlaybackResumed)[0].position == 11_111 - 320


def test_word_marks_of_the_previous_answer_are_dropped() -> None:
    bench = Bench(rewind_after=24_000)
    bench.offer(1, noise(16_000), words=(0, 11_500))
    bench.go(250)
    bench.turn = 2
    bench.offer(2, two_words())
    paused(bench, 175, LONG)
    assert 9600 - 480 <= bench.of(PlaybackResumed)[0].position <= 9600


# ── a sentence again ─────────────────────────────────────────────────────────────────────────
def held(bench: Bench, at_block: int, blocks: int = 10) -> None:
    """Play `at_block` blocks, then hold the answer for `blocks`."""
    bench.go(at_block)
    bench.hold += 1
    bench.go(blocks)


def released(bench: Bench, blocks: int = 400) -> None:
    bench.released = bench.hold
    bench.go(blocks)


@pytest.mark.parametrize("duck", [0.0, 0.125])
def test_a_held_answer_resumes_where_it_is_rewound_to(duck: float) -> None:
    """20 ms earlier for the fade; every sample from there to the end is sent."""
    bench, answer = Bench(duck=duck), noise(32_000)
    bench.offer(1, answer)
    held(bench, 175)
    bench.player.rewind(1, 4000)
    bench.go(5)
    released(bench, 500)
    (resumed,), (finished,) = bench.of(PlaybackResumed), bench.of(PlaybackFinished)
    assert resumed.position == 4000 - 320
    sent = bench.from_index(resumed.index + RAMP, finished.index + 1)
    assert np.array_equal(sent, answer[resumed.position + RAMP :])


@pytest.mark.parametrize(("turn", "position"), [(2, 4000), (1, 30_000)])
def test_another_answer_or_a_part_that_was_not_heard_changes_nothing(
    turn: int, position: int
) -> None:
    bench = Bench()
    bench.offer(1, noise(32_000))
    held(bench, 175)
    bench.player.rewind(turn, position)
    released(bench)
    assert bench.of(PlaybackResumed)[0].position == bench.of(PlaybackPaused)[0].position


def test_a_rewind_that_comes_after_the_answer_resumed_has_no_effect_then_or_later() -> None:
    bench, answer = Bench(), noise(32_000)
    bench.offer(1, answer)
    held(bench, 175)
    released(bench, 5)
    bench.player.rewind(1, 4000)
    held(bench, 5)
    released(bench, 400)
    pauses, resumes = bench.of(PlaybackPaused), bench.of(PlaybackResumed)
    assert [event.position for event in resumes] == [event.position for event in pauses]


def test_a_rewind_beyond_the_samples_that_are_kept_goes_back_to_the_oldest() -> None:
    bench, answer = Bench(block=1600), noise(40 * 16_000)
    bench.offer(1, answer)
    held(bench, 380)  # 38 s
    bench.player.rewind(1, 0)
    released(bench, 20)
    (pause,), (resumed,) = bench.of(PlaybackPaused), bench.of(PlaybackResumed)
    assert pause.position - resumed.position == 30 * 16_000
    after = bench.from_index(resumed.index + RAMP, resumed.index + 800)
    assert np.array_equal(after, answer[resumed.position + RAMP : resumed.position + 800])


def test_a_refused_block_does_not_lose_the_rewind() -> None:
    bench = Bench()
    bench.offer(1, noise(32_000))
    held(bench, 175)
    bench.player.rewind(1, 4000)
    bench.released = bench.hold
    bench.refuse()
    bench.go(1)
    assert bench.of(PlaybackResumed)[0].position == 4000 - 320


def test_a_long_pause_in_a_repeated_sentence_repeats_the_last_word_there() -> None:
    bench, answer = Bench(rewind_after=24_000), two_words(frames=64_000)
    bench.offer(1, answer)
    held(bench, 700)  # 56,000 samples
    bench.player.rewind(1, 0)
    released(bench, 175)
    held(bench, 0, LONG)
    released(bench, 800)
    first, second = bench.of(PlaybackResumed)
    assert first.position == 0
    assert 9600 - 480 <= second.position <= 9600
    (finished,) = bench.of(PlaybackFinished)
    sent = bench.from_index(second.index + RAMP, finished.index + 1)
    assert np.array_equal(sent, answer[second.position + RAMP :])
