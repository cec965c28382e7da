"""The texts for numbers and letters that the head is trained on."""

from __future__ import annotations

import pytest

from tests import skips

pytest.importorskip("torch", reason=skips.TRAINING)
pytest.importorskip("scipy", reason=skips.TRAINING)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("7", [" seven"]), ("0", [" zero"]), ("12", ["", " twelve"]), ("10", ["", " ten"]),
        ("20", [" twenty", ""]), ("47", [" forty", " seven"]),
    ],
)  # fmt: skip
def test_each_digit_is_spoken_as_its_part_of_the_number(number: str, said: list[str]) -> None:
    from training.speech_head.digits import spoken

    pieces = ["It", " is", f" {number[0]}", *number[1:], "."]
    assert [text for _, text in spoken(pieces)] == ["It", " is", *said, "."]


def test_a_number_at_the_start_has_no_leading_space() -> None:
    from training.speech_head.digits import spoken

    assert spoken(["4", "2", " trees"]) == [("4", "forty"), ("2", " two"), (" trees", " trees")]
    assert spoken(["1", "2", " trees"])[:2] == [("1", ""), ("2", " twelve")]


def test_adjacent_numbers_are_spoken_separately() -> None:
    from training.speech_head.digits import spoken

    assert [text for _, text in spoken([" 1", "3", " 3", " 0"])] == [
        "",
        " thirteen",
        " three",
        " zero",
    ]


def test_letters_and_numbers_are_only_in_requested_texts() -> None:
    from training.speech_head.texts import build

    plain, other = build(60, 10), build(60, 10, letters=20)
    assert (plain.spelled, plain.spelled_held_out) == ([], [])
    assert (len(other.spelled), len(other.spelled_held_out)) == (20, 2)
    assert other.made == plain.made
    for text in (*other.spelled, *other.spelled_held_out):
        assert any(word.isdigit() or len(word.strip(",.?!")) == 1 for word in text.split())


def test_the_teacher_speaks_numbers_and_letters_token_by_token() -> None:
    from training.speech_head.teacher import Teacher

    said = Teacher().say("That is 42 or Z U.", aloud=False)
    assert said is not None
    phones = dict(zip(said.pieces, ("".join(s for s, _ in p) for p in said.phones), strict=True))
    assert phones[" 4"].strip().startswith("f")
    assert phones["2"].strip().startswith("t")
    assert phones[" Z"].strip() == "zˈi"
