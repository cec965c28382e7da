"""The owner's words and phrases: lower case, no contradiction between lists, no duplicates."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.settings import load
from tests.settings.written import refused, written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{words: {yield: [Wait!]}}", "`Wait!` in the list `yield` has to be words in lower"),
        ("{words: {stop: ['']}}", "`` in the list `stop` has to be words in lower"),
        ("{words: {yield: [okay]}}", "`okay` cannot both interrupt and be in the list"),
        ("{words: {stop: [right]}}", "`right` cannot both interrupt and be in the list"),
        ("{words: {repeat: [okay]}}", "`okay` cannot both interrupt and be in the list"),
        ("{words: {repeat: [stop]}}", "`stop` cannot be in both lists `stop` and `repeat`"),
        ("{words: {carry_on: [hm, hm]}}", "`hm` is twice in the list `carry_on`"),
        ("{wake: {phrase: Hey You}}", "the phrase `Hey You` has to be words in lower case"),
        ("{wake: {phrase: ''}}", "the phrase `` has to be words in lower case"),
        ("{wake: {phrase: hey  you}}", "the phrase `hey  you` has to be words in lower case"),
    ],
)
def test_contradictory_or_invalid_words_are_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    assert message in refused(tmp_path, f"hearing: {text}")


@pytest.mark.parametrize("phrase", ["computer", "hey you", "what's-up", "o'clock now"])
def test_words_may_contain_apostrophes_and_hyphens(tmp_path: Path, phrase: str) -> None:
    text = f'hearing: {{wake: {{phrase: "{phrase}"}}, words: {{stop: ["{phrase}"]}}}}'
    hearing = load(written(tmp_path, text)).hearing
    assert (hearing.wake.phrase, hearing.words.stop) == (phrase, (phrase,))


def test_a_word_may_both_interrupt_and_stop(tmp_path: Path) -> None:
    text = "hearing: {words: {yield: [wait], stop: [wait], carry_on: []}}"
    words = load(written(tmp_path, text)).hearing.words
    assert words.yields == words.stop == ("wait",)
