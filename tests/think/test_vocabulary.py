"""Words never become marks, whatever they look like, and their text is preserved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.models.local_model import Sampling
from appliance.think.gemma import Gemma

POCKET = Path(__file__).parents[2] / "appliance/models/pocket"
SLOW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module", params=["tiny", "pocket"])
def gemma(request: pytest.FixtureRequest, tiny_files: tuple[Path, Path]) -> Iterator[Gemma]:
    files = {
        "tiny": tiny_files,
        "pocket": (POCKET / "pocket-text.gguf", POCKET / "pocket-audio.gguf"),
    }
    model = Gemma(*files[request.param], context_tokens=512, threads=1, sampling=Sampling())
    yield model
    model.close()


def assert_words(gemma: Gemma, text: str) -> None:
    tokens = gemma.tokenize(text, marks=False)
    special = gemma.vocabulary.special
    assert [special[token] for token in tokens if token in special] == []
    assert b"".join(map(gemma.piece, tokens)).decode() == text


def test_the_vocabulary_lists_the_special_tokens(gemma: Gemma) -> None:
    texts = set(gemma.vocabulary.special.values())
    assert {"<bos>", "<eos>", "<unk>", "<|turn>", "<turn|>", "<|audio>", "<audio|>"} <= texts
    assert {"<|tool_call>", "<tool_call|>", "<|channel>", "<channel|>"} <= texts


def test_every_special_token_spelled_out_is_tokenized_as_words(gemma: Gemma) -> None:
    texts = sorted(gemma.vocabulary.special.values())
    for text in texts:
        assert gemma.tokenize(text, marks=True)[0] in gemma.vocabulary.special
        for words in (text, text * 3, f"a{text}b", f" {text} ", text[0] + text, text + text[-1]):
            assert_words(gemma, words)
    assert_words(gemma, "".join(texts))


@SLOW
@given(data=st.data())
@pytest.mark.long
def test_no_mixture_of_marks_and_words_becomes_a_mark(gemma: Gemma, data: st.DataObject) -> None:
    marks = sorted(gemma.vocabulary.special.values())
    whole = st.sampled_from(marks)
    part = whole.flatmap(lambda mark: st.integers(0, len(mark)).map(lambda at: mark[:at]))
    rest = whole.flatmap(lambda mark: st.integers(0, len(mark)).map(lambda at: mark[at:]))
    anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2581"))
    pieces = st.lists(st.one_of(whole, part, rest, anything, st.sampled_from(' \n<|>"')))
    assert_words(gemma, "".join(data.draw(pieces)))
