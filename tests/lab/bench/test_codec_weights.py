"""The synthetic Mimi has as many weights as the published one, under the same names."""

from __future__ import annotations

import math
import re

from lab.bench import codec_weights
from tests.models.mimi_graph import mimi_files


def test_the_decoder_has_as_many_weights_as_in_transformers() -> None:
    """Counted with transformers 5.23.0 in a MimiModel, whose file has the published length."""
    parts = dict.fromkeys(("decoder", "decoder_transformer", "upsample"), 0)
    for name, shape in codec_weights.tensors():
        if (part := name.split(".", 1)[0]) in parts:
            parts[part] += math.prod(shape)
    assert parts == {"decoder": 14_724_641, "decoder_transformer": 25_190_400, "upsample": 2_048}


def test_tensor_names_are_those_of_transformers() -> None:
    def forms(names: object) -> set[str]:
        assert isinstance(names, dict)
        return {re.sub(r"\d+", "N", name) for name in names}

    ours, theirs = forms(dict(codec_weights.tensors())), forms(mimi_files.tensors())
    assert ours <= theirs
    assert {name for name in theirs - ours if not name.startswith("quantizer")} == set()
