"""Gemma's marks are single tokens of the vocabulary; a model without one of them is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import ModelError
from appliance.models.local_model import Sampling
from appliance.think.gemma import Gemma
from appliance.think.mark_tokens import MARKS, tags_of
from tests.think import tiny
from tests.think.reading import Load

TINY = Path("tiny.gguf")


def test_tags_of_maps_tokens_to_tags(gemma: Load) -> None:
    assert tags_of(gemma().vocabulary, TINY) == {
        48: "<|tool_call>", 49: "<tool_call|>",
        50: "<|tool_response>", 51: "<tool_response|>",
        100: "<|channel>", 101: "<channel|>",
    }  # fmt: skip


def test_a_tag_written_in_letters_has_no_token(gemma: Load) -> None:
    assert '<|"|>' not in tags_of(gemma().vocabulary, TINY).values()


@pytest.mark.parametrize("missing", MARKS)
def test_a_model_without_one_of_the_marks_is_refused_with_its_file(
    missing: str, tmp_path: Path, tiny_files: tuple[Path, Path]
) -> None:
    at = next(at for at, (text, _) in tiny.MARKS.items() if text == missing)
    other = tmp_path / "other.gguf"
    tiny.write_text(other, marks=tiny.MARKS | {at: ("<|something else>", tiny.CONTROL)})
    model = Gemma(other, tiny_files[1], context_tokens=512, threads=1, sampling=Sampling())
    try:
        with pytest.raises(ModelError, match="no mark") as refused:
            tags_of(model.vocabulary, other)
        assert missing in str(refused.value)
        assert str(other) in str(refused.value)
    finally:
        model.close()
