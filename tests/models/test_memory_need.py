"""Which model a machine has memory for."""

from __future__ import annotations

import pytest

from appliance.models import catalogue
from appliance.models.memory_need import fits, need_mib

MODELS = catalogue.load()
PI_8, PI_16, PI_4 = 8062, 16_218, 3_980  # MiB that Linux has of it


@pytest.mark.parametrize(
    ("name", "least"), [("gemma-4-e2b", PI_8), ("gemma-4-e2b-qat", PI_8), ("gemma-4-e4b", PI_16)]
)
def test_a_model_fits_the_machine_that_the_catalogue_names_and_none_below_it(
    name: str, least: int
) -> None:
    assert fits(MODELS[name], least)
    assert not fits(MODELS[name], PI_4)
    assert fits(MODELS[name], PI_8) == (least == PI_8)


def test_a_voice_needs_no_machine_of_its_own() -> None:
    assert need_mib(MODELS["ljspeech"]) == 0
    assert fits(MODELS["ljspeech"], PI_4)


def test_where_nobody_knows_the_memory_nothing_is_said_not_to_fit() -> None:
    assert fits(MODELS["gemma-4-e4b"], None)
