"""The table of requests and answers, and the vocabulary built from it."""

from __future__ import annotations

import re
from random import Random

import pytest

from training.pocket import grammar
from training.pocket.speech import CORPORA, pairs
from training.pocket.vocabulary import USER_DEFINED, Vocabulary, words_of

LONG = "moon sea mountains story bread stars rain trees bees river sun volcano how_you_work".split()
STEERING = "stop never_mind quiet wait".split()


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    all_phrasings = [p for phrasings in grammar.requests().values() for p in phrasings]
    return Vocabulary([*grammar.answers().values(), *all_phrasings], 2560)


def test_every_request_has_an_answer_and_every_answer_a_request() -> None:
    assert set(grammar.answers()) == {*grammar.requests(), grammar.UNKNOWN}


def test_no_phrasing_belongs_to_two_requests() -> None:
    all_phrasings = [p for phrasings in grammar.requests().values() for p in phrasings]
    assert sorted(all_phrasings) == sorted(set(all_phrasings))


def test_no_two_answers_are_the_same() -> None:
    answers = list(grammar.answers().values())
    assert len(set(answers)) == len(answers)


@pytest.mark.parametrize("name", LONG)
def test_long_answers_are_long_enough_to_interrupt(name: str) -> None:
    assert 80 <= len(grammar.answers()[name].split()) <= 150


def test_sentences_are_short_enough_to_be_spoken() -> None:
    for answer in grammar.answers().values():
        for sentence in re.split(r"(?<=[.?!]) ", answer):
            assert len(sentence.split()) <= 26, sentence


@pytest.mark.parametrize("name", STEERING)
def test_steering_requests_get_short_answers(name: str) -> None:
    assert len(grammar.answers()[name].split()) <= 8


def test_requests_are_lower_case_words() -> None:
    for phrasings in grammar.requests().values():
        for text in phrasings:
            assert re.fullmatch(r"[a-z' ]+", text), text


@pytest.mark.long
def test_every_word_of_an_answer_is_one_token(vocabulary: Vocabulary) -> None:
    for answer in grammar.answers().values():
        for word in words_of(answer):
            assert len(vocabulary.encode_plain(word)) == 1, word


@pytest.mark.parametrize(
    "text",
    ["Tell me about the moon.", "wait, 12 häß!", "a\nb\n\nc", "日本", "", "<|turn>user\nhi<turn|>"],
)
@pytest.mark.long
def test_any_text_is_encoded_without_loss(vocabulary: Vocabulary, text: str) -> None:
    ids = vocabulary.encode(text)
    raw = b"".join(
        bytes([int(t[3:5], 16)])
        if re.fullmatch(r"<0x..>", t)
        else t.replace("\u2581", " ").encode()
        for t in (vocabulary.tokens[i] for i in ids)
    )
    assert raw.decode() == text


def test_too_small_a_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        Vocabulary(["moon and sea"], 300)


FORM = re.compile(r'<\|tool_call>call:(\w+)\{(?:\w+:(?:\d+|<\|"\|>[a-z ]+<\|"\|>))?\}<tool_call\|>')


def test_every_call_has_gemmas_form() -> None:
    assert len(grammar.calls()) >= 6
    for name in grammar.calls():
        assert FORM.fullmatch(grammar.answers()[name]), name


def test_a_timer_call_has_the_requested_minutes() -> None:
    words = dict(zip("one two three five ten fifteen twenty thirty".split(),
                     "1 2 3 5 10 15 20 30".split(), strict=True))  # fmt: skip
    for word, minutes in words.items():
        for text in grammar.requests()[f"timer_{minutes}"]:
            assert f" {word} minute" in f" {text}"
        assert f"{{minutes:{minutes}}}" in grammar.answers()[f"timer_{minutes}"]


@pytest.mark.long
def test_the_marks_of_a_call_are_single_visible_tokens(vocabulary: Vocabulary) -> None:
    for mark in ("<|tool_call>", "<tool_call|>", '<|"|>'):
        (token,) = vocabulary.encode(mark)
        assert vocabulary.types[token] == USER_DEFINED


def test_about_half_of_the_requests_in_the_tools_corpus_are_for_tools() -> None:
    r = Random(3)
    names = [name for _, name in pairs(400, r, CORPORA["tools"][2])]
    known = [name for name in names if name != grammar.UNKNOWN]
    tools = [name for name in known if name in grammar.calls() or name == grammar.ASKED_BACK]
    assert 0.4 < len(tools) / len(known) < 0.6


def test_a_wrapped_request_contains_its_phrasing() -> None:
    table, r = grammar.requests(), Random(1)
    for _ in range(500):
        text, name = grammar.request(table, r)
        assert any(p in text for p in table[name]), (text, name)


def test_an_unknown_sentence_is_never_a_request() -> None:
    table, r = grammar.requests(), Random(2)
    known = {p for phrasings in table.values() for p in phrasings}
    for _ in range(500):
        text, name = grammar.unknown(table, r)
        assert name == grammar.UNKNOWN
        assert text not in known
