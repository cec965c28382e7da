"""The jobs of the interruption bench, run in this process or in workers."""

from __future__ import annotations

import pytest

from lab.bench.interruption_plan import plan
from lab.bench.interruption_work import run_jobs
from tests.english import ESPEAK


@pytest.mark.process
def test_a_job_has_the_same_result_in_this_process_and_in_a_worker() -> None:
    jobs = [job for job in plan("quick", [], 1, events=1) if job.part == "over"][:1]
    alone = {job.seed: result for job, result in run_jobs(jobs, ESPEAK, 1)}
    together = {job.seed: result for job, result in run_jobs(jobs, ESPEAK, 2)}
    assert alone == together
