"""Errors: a sentence, a remedy, and an exit code from sysexits."""

from __future__ import annotations

import inspect
import os

import pytest

from appliance import errors
from appliance.errors import CardError, InterludeError

ERRORS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, InterludeError)
]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_problem_a_remedy_and_a_spoken_sentence(
    kind: type[InterludeError],
) -> None:
    error = kind("It is gone.", "Plug it in.", aloud="My card is gone.")
    assert str(error) == "It is gone. Plug it in."
    assert (error.problem, error.remedy, error.aloud) == (
        "It is gone.", "Plug it in.", "My card is gone.",
    )  # fmt: skip
    assert str(kind("It is gone.")) == "It is gone."


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_exit_code_is_one_of_sysexits(kind: type[InterludeError]) -> None:
    codes = {getattr(os, name) for name in dir(os) if name.startswith("EX_")} - {os.EX_OK}
    assert kind.exit_code in codes


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_is_a_subclass_of_a_built_in_error(kind: type[InterludeError]) -> None:
    if kind is not InterludeError:
        assert issubclass(kind, OSError | ValueError | RuntimeError)


def test_a_card_error_has_no_errno() -> None:
    assert CardError("It is in use.").errno is None
