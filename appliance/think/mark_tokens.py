"""Finds the marks that are single tokens in a model's vocabulary: Gemma's own must be."""

from __future__ import annotations

from pathlib import Path

from appliance.errors import ModelError
from appliance.think.special_tokens import SILENT
from appliance.think.vocabulary import Vocabulary
from appliance.tools.tool_call_syntax import QUOTE

MARKS = ("<bos>", "<|turn>", "<turn|>", "<|audio>", "<audio|>")


def tags_of(vocabulary: Vocabulary, path: Path) -> dict[int, str]:
    """Map tokens to the tags that are single tokens. Raises ModelError if one of Gemma's own marks
    is not a single token in the vocabulary of the model in `path`."""
    for mark in MARKS:
        if len(vocabulary.tokenize(mark, marks=True)) != 1:
            raise ModelError(f"The vocabulary of {path} has no mark {mark}.")
    tags = {}
    for tag in (*SILENT, *SILENT.values(), QUOTE):
        ids = vocabulary.tokenize(tag, marks=True)
        if len(ids) == 1:
            tags[ids[0]] = tag
    return tags
