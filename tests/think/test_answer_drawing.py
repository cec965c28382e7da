"""Drawing: what a token completes, how it ends, and what waits."""

from __future__ import annotations

import pytest

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.answer_drawing import AHEAD_TOKENS, AnswerDrawing

END = 0


class Script:
    """A source of tokens: each number stands for the text at its place; 0 ends."""

    def __init__(self, *texts: bytes) -> None:
        self.texts = [b"", *texts]
        self.next = 1
        self.interrupted = False
        self.held: list[int] = []

    def sample(self) -> int:
        return self.next if self.next < len(self.texts) else END

    def is_end(self, token: int) -> bool:
        return token == END

    def piece(self, token: int) -> bytes:
        return self.texts[token]

    def evaluate(self, content: list[int], *, last: bool = False) -> None:
        assert last
        self.held += content
        self.next += 1


def drawing(script: Script, most: int = 1000) -> tuple[AnswerDrawing, list[int]]:
    drew: list[int] = []
    return AnswerDrawing(script, {}, most, drew.extend), drew


def test_a_token_that_completes_no_letter_is_a_step_all_the_same() -> None:
    one, _ = drawing(Script("ü".encode()[:1], "ü".encode()[1:]))
    pieces = one.draw_ahead()
    assert [next(pieces), next(pieces)] == ["", "ü"]


def test_all_tokens_come_as_text_and_a_letter_may_be_cut_anywhere() -> None:
    one, drew = drawing(Script(b"Gr", "ü".encode()[:1], "ü".encode()[1:], b"n."))
    assert "".join(map(str, one.pieces())) == "Grün."
    assert one.tokens == drew == [1, 2, 3, 4]
    assert one.complete
    assert not one.limited


def test_more_than_the_most_is_cut_and_said_so() -> None:
    one, drew = drawing(Script(*[b"x"] * 5), most=3)
    assert "".join(map(str, one.pieces())) == "xxx"
    assert one.limited
    assert drew == [1, 2, 3]


@pytest.mark.parametrize("ahead", [1, 3, AHEAD_TOKENS])
def test_what_was_drawn_ahead_comes_first_and_is_drawn_once(ahead: int) -> None:
    script = Script(*[str(n % 10).encode() for n in range(40)])
    one, drew = drawing(script)
    pieces = one.draw_ahead()
    assert [next(pieces) for _ in range(ahead)] == [str(n % 10) for n in range(ahead)]
    pieces.close()
    assert one.drawn_ahead == len(one.tokens) == ahead
    assert drew == []
    assert "".join(map(str, one.pieces())) == "".join(str(n % 10) for n in range(40))
    assert drew == list(range(1, 41))


def test_no_more_than_a_clause_or_two_is_drawn_ahead_and_an_end_ends_it() -> None:
    one, _ = drawing(Script(*[b"x"] * 100))
    list(one.draw_ahead())
    assert one.drawn_ahead == AHEAD_TOKENS
    short, drew = drawing(Script(b"Yes", b"."))
    list(short.draw_ahead())
    assert (short.drawn_ahead, drew) == (2, [1, 2])
    assert "".join(map(str, short.pieces())) == "Yes."


def test_an_interruption_abandons_it_and_tells_what_was_drawn() -> None:
    script = Script(*[b"x"] * 100)
    one, drew = drawing(script)
    list(one.draw_ahead())
    script.interrupted = True
    with pytest.raises(AnswerAbandoned):
        list(one.pieces())
    assert len(drew) == AHEAD_TOKENS


def test_what_nobody_wants_any_more_tells_what_was_drawn_once() -> None:
    one, drew = drawing(Script(*[b"x"] * 100))
    list(one.draw_ahead())
    one.close()
    one.close()
    assert len(drew) == AHEAD_TOKENS
