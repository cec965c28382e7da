"""The synthetic Mimi: as many numbers as the published one, under the names that it has."""

from __future__ import annotations

import math
import re

from lab.bench import codec_weights
from tests.models.mimi_graph import mimi_files


def test_the_decoder_has_as_many_numbers_as_transformers_gives_it() -> None:
    """As transformers 5.23.0 counts them in a MimiModel, whose file is as long as the published."""
    parts = dict.fromkeys(("decoder", "decoder_transformer", "upsample"), 0)
    for name, shape in codec_weights.tensors():
        if (part := name.split(".", 1)[0]) in parts:
            parts[part] += math.prod(shape)
    assert parts == {"decoder": 14_724_641, "decoder_transformer": 25_190_400, "upsample": 2_048}


def test_names_are_those_that_transformers_writes() -> None:
    def forms(names: object) -> set[str]:
        assert isinstance(names, dict)
        return {re.sub(r"\d+", "N", name) for name in names}

    ours, theirs = forms(dict(codec_weights.tensors())), forms(mimi_files.tensors())
    assert ours <= theirs
    assert {name for name in theirs - ours if not name.startswith("quantizer")} == set()
