"""Which models fit into the memory of a machine."""

from __future__ import annotations

import pytest

from appliance.models import catalogue
from appliance.models.memory_need import fits, need_mib

MODELS = catalogue.load()
PI_8, PI_16, PI_4 = 8062, 16_218, 3_980  # MiB of memory that Linux reports


@pytest.mark.parametrize(
    ("name", "least"), [("gemma-4-e2b", PI_8), ("gemma-4-e2b-qat", PI_8), ("gemma-4-e4b", PI_16)]
)
def test_a_model_fits_its_minimum_machine_and_no_smaller_one(name: str, least: int) -> None:
    assert fits(MODELS[name], least)
    assert not fits(MODELS[name], PI_4)
    assert fits(MODELS[name], PI_8) == (least == PI_8)


def test_a_voice_has_no_memory_requirement() -> None:
    assert need_mib(MODELS["ljspeech"]) == 0
    assert fits(MODELS["ljspeech"], PI_4)


def test_with_unknown_memory_every_model_fits() -> None:
    assert fits(MODELS["gemma-4-e4b"], None)
