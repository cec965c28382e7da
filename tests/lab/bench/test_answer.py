"""The bench of answers."""

from __future__ import annotations

import pytest

from appliance.errors import ModelError
from appliance.settings import load_defaults
from lab.bench import answer as bench_answer
from lab.bench.benches import BenchOptions
from lab.sim.rehearsal_cli import load_over


def test_a_missing_model_is_a_model_error() -> None:
    missing = load_over(load_defaults(), {"thinking": {"model": "nobodys"}})
    with pytest.raises(ModelError, match="There is no model `nobodys`"):
        bench_answer.bench(BenchOptions(missing))
