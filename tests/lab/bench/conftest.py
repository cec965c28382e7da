"""Fixtures for the tests of several benches: findings, and a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.bench.benches import FigureTable
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import ECHO, QUIET, TELEVISION
from lab.bench.interruption_trials import FalsePause, JobResult
from lab.bench.model import spoken_of
from lab.bench.model_weights import write
from tests.lab.bench.findings import OVER, job, trial
from tests.lab.bench.tiny_model import SETTINGS, TINY


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write(TINY, tmp_path_factory.mktemp("weights"), spoken_of(SETTINGS))


@pytest.fixture
def found() -> InterruptionFindings:
    findings = InterruptionFindings()
    findings.done = [
        (job("over", QUIET), JobResult(OVER, talked_s=100)),
        (job("pauses", ECHO, seed=2), JobResult([], [FalsePause(3.0, "noise")] * 2, 3600.0, [5.0])),
        (job("pauses", TELEVISION, seed=3), JobResult([], [], 1800.0)),
        (job("article", QUIET, "article", 4), JobResult([trial("noise", None, yielded=True)])),
    ]
    findings.live = {"quiet": [trial("interruption", None)]}
    findings.live_article = {"quiet": [trial("interruption", None, stop_ms=120.0)]}
    findings.seam = FigureTable("Seam", ("pauses", "lost", "repeated"), [("7", 0, 1)])
    findings.cost_us, findings.stages = 500.0, {"echo": 0.5, "the rest": 0.5}
    return findings
