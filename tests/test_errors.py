"""Errors: a sentence, a remedy, an exit code that a shell can tell apart."""

from __future__ import annotations

import inspect
import os

import pytest

from appliance import errors
from appliance.errors import CardError, InterludeError

EVERY = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, InterludeError)
]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_error_is_told_as_a_sentence_and_what_to_do(kind: type[InterludeError]) -> None:
    error = kind("It is gone.", "Plug it in.", aloud="My card is gone.")
    assert str(error) == "It is gone. Plug it in."
    assert (error.problem, error.remedy, error.aloud) == (
        "It is gone.", "Plug it in.", "My card is gone.",
    )  # fmt: skip
    assert str(kind("It is gone.")) == "It is gone."


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_exit_code_is_one_of_sysexits(kind: type[InterludeError]) -> None:
    codes = {getattr(os, name) for name in dir(os) if name.startswith("EX_")} - {os.EX_OK}
    assert kind.exit_code in codes


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_who_expects_an_ordinary_error_of_its_kind_gets_it(kind: type[InterludeError]) -> None:
    if kind is not InterludeError:
        assert issubclass(kind, OSError | ValueError | RuntimeError)


def test_an_error_of_a_card_is_none_of_the_systems_numbers() -> None:
    assert CardError("It is in use.").errno is None
