"""The answers that the head is judged by are answers of the model, and not used in training."""

from __future__ import annotations

import ast
from pathlib import Path

from lab.bench.head_answers import HELD_OUT, held_out_sentences
from training.pocket import grammar

TEXTS = Path(__file__).parents[3] / "training/speech_head/texts.py"


def test_the_held_out_answers_are_answers_of_the_pocket_model() -> None:
    assert {name: grammar.answers()[name] for name in HELD_OUT} == HELD_OUT
    assert " ".join(held_out_sentences()) == " ".join(HELD_OUT.values())


def test_the_held_out_answers_are_those_that_training_excludes() -> None:
    held_out = next(
        node.value for node in ast.parse(TEXTS.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HELD_OUT"
    )  # fmt: skip
    names = next(n.value for n in ast.walk(held_out) if isinstance(n, ast.Constant))
    assert isinstance(names, str)
    assert names.split() == list(HELD_OUT)
