"""The sampling options of a model and those of the owner."""

from __future__ import annotations

import msgspec
import pytest

from appliance.models.local_model import Sampling
from appliance.settings import load_defaults

OWN = Sampling(0.7, 0.8, 40)


@pytest.mark.parametrize(
    ("changes", "drawn"),
    [
        ({}, OWN),
        ({"temperature": 0.0}, Sampling(0.0, 0.8, 40)),
        ({"top_p": 0.5}, Sampling(0.7, 0.5, 40)),
        ({"top_k": 0}, Sampling(0.7, 0.8, 0)),
        ({"temperature": 1.5, "top_p": 1.0, "top_k": 1}, Sampling(1.5, 1.0, 1)),
    ],
)
def test_options_of_the_owner_override_those_of_the_model_unless_they_are_minus_one(
    changes: dict[str, float], drawn: Sampling
) -> None:
    unset = msgspec.structs.replace(
        load_defaults().thinking, temperature=-1.0, top_p=-1.0, top_k=-1
    )
    assert OWN.with_owner(msgspec.structs.replace(unset, **changes)) == drawn
