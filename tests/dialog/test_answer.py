"""How much of an answer was heard."""

from __future__ import annotations

import pytest

from appliance.dialog.answer import Answer, Question, first_words
from appliance.messages.limits import MAX_WORDS
from appliance.messages.speech import Spoken
from appliance.pcm import RATE_HZ

SECOND = RATE_HZ


def spoken(*lines: str) -> Answer:
    answer = Answer(7)
    for number, text in enumerate(lines):
        answer = answer.with_line(text).with_timing(number, 2 * SECOND * number, 2 * SECOND)
    return answer


@pytest.mark.parametrize(
    ("position", "heard"),
    [
        (0, ""),
        (SECOND // 10, ""),
        (SECOND, "The moon"),
        (2 * SECOND - 1, "The moon is"),
        (2 * SECOND, "The moon is grey."),
        (2 * SECOND + 1, "The moon is grey."),
        (4 * SECOND, "The moon is grey. It has no air."),
        (9 * SECOND, "The moon is grey. It has no air."),
    ],
)
def test_the_heard_part_of_an_answer_ends_at_a_word(position: int, heard: str) -> None:
    assert spoken("The moon is grey.", "It has no air.").heard_text(position) == heard


def test_an_unknown_sentence_length_is_estimated_from_the_known_ones() -> None:
    answer = spoken("Ten letters.").with_line("Ten letters.")
    assert answer.heard_text(3 * SECOND + SECOND // 2) == "Ten letters. Ten"


def test_without_known_lengths_the_default_speaking_rate_is_assumed() -> None:
    answer = Answer(1).with_line("one two three four five six")  # 27 letters: a little under 2 s
    assert answer.heard_text(SECOND) == "one two three"


def test_a_sentence_that_the_speaker_never_reported_is_not_counted_as_heard() -> None:
    assert spoken("One.", "Two.").with_line("Three.").heard_text() == "One. Two."


def test_a_line_that_failed_is_not_heard() -> None:
    assert spoken("One.", "Two.", "Three.").with_failed_line(1).heard_text() == "One. Three."


def test_the_boxs_own_sentences_are_not_part_of_the_answer() -> None:
    answer = spoken("One.").with_line("Sorry.", ours=True).with_timing(1, 2 * SECOND, SECOND)
    assert answer.heard_text() == "One."


@pytest.mark.parametrize("number", [-1, 2, 99])
def test_a_report_about_an_unknown_sentence_changes_nothing(number: int) -> None:
    answer = spoken("One.", "Two.")
    assert answer.with_timing(number, 5, 5) == answer
    assert answer.with_failed_line(number) == answer


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.2, 0.5, 0.99, 1.0, 7.0])
def test_first_words_returns_a_prefix_that_ends_at_a_word(share: float) -> None:
    text = "Well,  the moon  has no air."
    prefix = first_words(text, share)
    assert text.startswith(prefix)
    assert not prefix or text[len(prefix) : len(prefix) + 1] in ("", " ")


def test_the_playback_position_advances_while_an_answer_plays_and_not_while_it_is_paused() -> None:
    answer = spoken("One.").at(100, 5.0, sounding=True)
    assert answer.position_at(6.0) == 100 + SECOND
    assert answer.silenced(6.0).position_at(60.0) == 100 + SECOND


def test_a_repeated_word_counts_once_and_stays_heard() -> None:
    answer = spoken("The moon is grey.", "It has no air.").at(2 * SECOND, 5.0, sounding=False)
    again = answer.at(SECOND, 9.0, sounding=True)
    assert again.position_at(9.5) == SECOND + SECOND // 2
    assert again.remaining_s(9.0) == 3.0
    assert again.heard_text(SECOND + SECOND // 2) == "The moon is grey."
    assert again.heard_text(3 * SECOND) == "The moon is grey. It has"


def test_the_remaining_duration_is_that_of_the_audio_not_yet_played() -> None:
    answer = spoken("One.", "Two.").at(SECOND, 5.0, sounding=True)
    assert answer.remaining_s(5.0) == 3.0
    assert answer.remaining_s(6.0) == 2.0
    assert answer.remaining_s(60.0) == 0.0


def test_an_unanswered_question_is_prepended_to_the_next() -> None:
    merged = Question("and the sea?", 1.0, (4,), 9.0).after(Question("the moon", 2.0, (3,), 5.0))
    assert merged == Question("the moon and the sea?", 3.0, (4,), 9.0)


def test_merged_unanswered_questions_stay_within_the_limit_of_one_question() -> None:
    kept = Question("")
    for number in range(50):
        kept = Question(f"{number} " + "why? " * 190).after(kept)
    assert len(kept.text) == MAX_WORDS


# ── a voice that reports word positions ──────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("position", "heard"),
    [
        (0, ""),
        (SECOND // 4 - 1, ""),
        (SECOND // 4, "The"),
        (SECOND - 1, "The"),  # an estimate by letters would be `The moon`
        (SECOND, "The moon"),
        (2 * SECOND - 1, "The moon is"),
        (2 * SECOND, "The moon is grey."),
        (3 * SECOND, "The moon is grey. It has"),  # the second sentence has no word positions
    ],
)
def test_the_heard_part_is_exact_when_the_voice_reports_word_positions(
    position: int, heard: str
) -> None:
    words = ((3, SECOND // 4), (8, SECOND), (11, SECOND + 1), (17, 2 * SECOND))
    report = Spoken(7, 0, 0, 2 * SECOND, 5.0, words)
    answer = spoken("The moon is grey.", "It has no air.").with_spoken(report)
    assert answer.heard_text(position) == heard


# ── a question to the owner ──────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("lines", "position", "open_"),
    [
        (("It is noon.", "Shall I go on?"), 3 * SECOND, False),  # an answer cannot come so early
        (("It is noon.", "Shall I go on?"), 3 * SECOND + 1, True),
        (("It is noon.", "Shall I go on?"), 9 * SECOND, True),  # its end has not been reported
        (("It is noon.", 'Did you say "go on?"'), 4 * SECOND, True),
        (("It is noon.", "Shall I go on."), 4 * SECOND, False),
        (("Shall I go on?", "It is noon."), 2 * SECOND, False),  # the box goes on by itself
        ((), 0, False),
    ],
)
def test_a_question_is_open_from_a_second_before_its_end_if_no_line_follows(
    lines: tuple[str, ...], position: int, open_: bool
) -> None:
    assert spoken(*lines).at(position, 5.0, sounding=False).asks_owner(5.0) == open_


def test_a_short_question_is_open_once_it_has_begun() -> None:
    answer = spoken("It is noon.").with_line("More?").with_timing(1, 2 * SECOND, SECOND // 2)
    for position, open_ in ((2 * SECOND, False), (2 * SECOND + 1, True)):
        assert answer.at(position, 5.0, sounding=False).asks_owner(5.0) == open_


def test_a_question_that_could_not_be_spoken_is_not_open() -> None:
    answer = spoken("It is noon.", "Shall I go on?").with_failed_line(1)
    assert not answer.at(9 * SECOND, 5.0, sounding=False).asks_owner(5.0)


# ── the last sentence ────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("position", "begin"),
    [
        (0, 0),
        (SECOND, 0),
        (3 * SECOND - 1, 0),  # hardly anything of the second one was heard
        (3 * SECOND, 2 * SECOND),
        (5 * SECOND - 1, 2 * SECOND),
        (9 * SECOND, 4 * SECOND),
    ],
)
def test_the_last_sentence_is_the_one_before_if_the_present_one_has_hardly_begun(
    position: int, begin: int
) -> None:
    answer = spoken("One is here.", "Two is here.", "Three is here.")
    assert answer.at(position, 5.0, sounding=False).last_sentence(5.0) == begin


def test_a_sentence_of_several_lines_is_repeated_from_its_first() -> None:
    answer = spoken("One is here.", "Two is here,", "and there", "as well.", "Five.")
    assert answer.at(8 * SECOND, 5.0, sounding=False).last_sentence(5.0) == 2 * SECOND


def test_a_line_that_failed_is_not_the_last_sentence() -> None:
    answer = spoken("One.", "Two.", "Three.").with_failed_line(1)
    assert answer.at(4 * SECOND, 5.0, sounding=False).last_sentence(5.0) == 0
