"""AnswerDrawing: the text of each token, limits, interruption and drawing ahead."""

from __future__ import annotations

import pytest

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.answer_drawing import AHEAD_TOKENS, AnswerDrawing

END = 0


class Script:
    """A fake model: token n has the n-th text, and token 0 ends the answer."""

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


def test_a_token_with_part_of_a_letter_gives_an_empty_piece() -> None:
    answer, _ = drawing(Script("ü".encode()[:1], "ü".encode()[1:]))
    pieces = answer.draw_ahead()
    assert [next(pieces), next(pieces)] == ["", "ü"]


def test_a_letter_split_over_tokens_is_joined() -> None:
    answer, drew = drawing(Script(b"Gr", "ü".encode()[:1], "ü".encode()[1:], b"n."))
    assert "".join(map(str, answer.pieces())) == "Grün."
    assert answer.tokens == drew == [1, 2, 3, 4]
    assert answer.complete
    assert not answer.limited


def test_an_answer_is_cut_at_the_limit_and_marked_limited() -> None:
    answer, drew = drawing(Script(*[b"x"] * 5), most=3)
    assert "".join(map(str, answer.pieces())) == "xxx"
    assert answer.limited
    assert drew == [1, 2, 3]


@pytest.mark.parametrize("ahead", [1, 3, AHEAD_TOKENS])
def test_tokens_drawn_ahead_come_first_and_are_drawn_once(ahead: int) -> None:
    script = Script(*[str(n % 10).encode() for n in range(40)])
    answer, drew = drawing(script)
    pieces = answer.draw_ahead()
    assert [next(pieces) for _ in range(ahead)] == [str(n % 10) for n in range(ahead)]
    pieces.close()
    assert answer.drawn_ahead == len(answer.tokens) == ahead
    assert drew == []
    assert "".join(map(str, answer.pieces())) == "".join(str(n % 10) for n in range(40))
    assert drew == list(range(1, 41))


def test_drawing_ahead_stops_at_its_limit_or_at_the_end() -> None:
    answer, _ = drawing(Script(*[b"x"] * 100))
    list(answer.draw_ahead())
    assert answer.drawn_ahead == AHEAD_TOKENS
    short, drew = drawing(Script(b"Yes", b"."))
    list(short.draw_ahead())
    assert (short.drawn_ahead, drew) == (2, [1, 2])
    assert "".join(map(str, short.pieces())) == "Yes."


def test_an_interruption_raises_abandoned_and_reports_the_drawn_tokens() -> None:
    script = Script(*[b"x"] * 100)
    answer, drew = drawing(script)
    list(answer.draw_ahead())
    script.interrupted = True
    with pytest.raises(AnswerAbandoned):
        list(answer.pieces())
    assert len(drew) == AHEAD_TOKENS


def test_close_reports_the_drawn_tokens_once() -> None:
    answer, drew = drawing(Script(*[b"x"] * 100))
    list(answer.draw_ahead())
    answer.close()
    answer.close()
    assert len(drew) == AHEAD_TOKENS
