"""The bench of the cancellers: which are compared, and in which conditions."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import BLOCK_FRAMES
from appliance.settings import load_defaults
from lab.bench import aec3
from lab.bench.benches import BenchError
from lab.bench.echo import ALONE, CONDITIONS, cancellers


def test_the_reference_is_only_there_where_it_is_installed() -> None:
    names = list(cancellers(load_defaults()))
    assert names == ["kalman", "speex", *(["AEC3"] if aec3.installed() else [])]


def test_one_canceller_may_be_measured_alone_and_one_that_is_not_here_is_refused() -> None:
    assert list(cancellers(load_defaults(), ["kalman"])) == ["kalman"]
    with pytest.raises(BenchError, match="no canceller `nlms` here"):
        cancellers(load_defaults(), ["nlms"])


@pytest.mark.parametrize("name", ["kalman", "speex"])
def test_each_takes_and_gives_a_step_and_each_made_is_a_fresh_one(name: str) -> None:
    make = cancellers(load_defaults())[name]
    silence = np.zeros(BLOCK_FRAMES, np.int16)
    one, other = make(), make()
    assert one is not other
    assert one.cancel_echo(silence, silence).shape == silence.shape


def test_no_condition_is_measured_twice() -> None:
    names = [condition.name for condition in CONDITIONS]
    assert len(set(names)) == len(names)
    assert len({name for name, _ in ALONE}) == len(ALONE)
