"""A Recall message holds the newest turns that fit."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.messages.limits import MAX_ANSWER, MAX_BYTES, MAX_WORDS
from appliance.messages.registry import encode
from appliance.messages.thinking import (
    Recall,
)

TURNS = st.tuples(st.text(max_size=3000), st.text(max_size=3000), st.text(max_size=20_000))


@given(turns=st.lists(TURNS, max_size=30))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
def test_a_recall_holds_the_newest_turns_that_fit(
    turns: list[tuple[str, str, str]],
) -> None:
    recall = Recall.newest(turns)
    assert len(encode(recall)) <= MAX_BYTES
    shortened = [(asked[-MAX_WORDS:], said[-MAX_WORDS:], heard[:MAX_ANSWER])
            for asked, said, heard in turns]  # fmt: skip
    assert list(recall.turns) == shortened[len(shortened) - len(recall.turns) :]
    assert bool(recall.turns) == bool(turns)


def test_turns_that_all_fit_are_all_recalled() -> None:
    turns = [("", "what is the moon", "The moon is grey.")] * 200
    assert Recall.newest(turns).turns == tuple(turns)
