"""The bench of the echo cancellers: which are compared, and in which conditions."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import BLOCK_FRAMES
from appliance.settings import load_defaults
from lab.bench import aec3
from lab.bench.benches import BenchError
from lab.bench.echo import ALONE, CONDITIONS, cancellers


def test_the_reference_canceller_is_listed_only_if_it_is_installed() -> None:
    names = list(cancellers(load_defaults()))
    assert names == ["kalman", "speex", *(["AEC3"] if aec3.installed() else [])]


def test_a_single_canceller_can_be_chosen_and_an_unknown_one_is_refused() -> None:
    assert list(cancellers(load_defaults(), ["kalman"])) == ["kalman"]
    with pytest.raises(BenchError, match="no canceller `nlms` here"):
        cancellers(load_defaults(), ["nlms"])


@pytest.mark.parametrize("name", ["kalman", "speex"])
def test_each_canceller_processes_a_block_and_each_call_creates_a_new_one(name: str) -> None:
    make = cancellers(load_defaults())[name]
    silence = np.zeros(BLOCK_FRAMES, np.int16)
    first, second = make(), make()
    assert first is not second
    assert first.cancel_echo(silence, silence).shape == silence.shape


def test_no_condition_is_measured_twice() -> None:
    names = [condition.name for condition in CONDITIONS]
    assert len(set(names)) == len(names)
    assert len({name for name, _ in ALONE}) == len(ALONE)
