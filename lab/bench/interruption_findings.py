"""Holds the results of the interruption bench, complete or partial."""

from __future__ import annotations

from dataclasses import dataclass, field

from lab.bench.benches import FigureTable
from lab.bench.interruption_plan import TrialJob
from lab.bench.interruption_trials import InterruptionTrial, JobResult


@dataclass
class InterruptionFindings:
    """The results so far; figures without results get no rows in the tables."""

    done: list[tuple[TrialJob, JobResult]] = field(default_factory=list)
    live: dict[str, list[InterruptionTrial]] = field(default_factory=dict)  # by condition
    live_article: dict[str, list[InterruptionTrial]] = field(default_factory=dict)
    dropouts: list[str] = field(default_factory=list)
    seam: FigureTable | None = None
    cost_us: float | None = None
    stages: dict[str, float] = field(default_factory=dict)

    def trials(
        self, condition: str | None = None, by: str = "ours", room: str | None = None
    ) -> list[InterruptionTrial]:
        """The trials of one condition and room; None: of all. Sounds of `people` are apart."""
        part = "over" if by == "ours" else "article"
        return self._of(part, by, condition, room)

    def people(self, condition: str) -> list[InterruptionTrial]:
        """The trials of one condition with sounds of people in conversation."""
        return self._of("people", "ours", condition, None)

    def _of(
        self, part: str, by: str, condition: str | None, room: str | None
    ) -> list[InterruptionTrial]:
        return [
            trial
            for job, result in self.done
            for trial in result.trials
            if (job.part, job.by) == (part, by)
            and condition in (None, job.condition)
            and room in (None, job.place.name)
        ]

    def silences(self, condition: str, by: str = "ours") -> list[tuple[TrialJob, JobResult]]:
        """The jobs of a condition without sounds of the owner."""
        return [(job, result) for job, result in self.done
                if not job.specs and job.by == by and job.condition == condition]  # fmt: skip

    def conditions(self, part: str) -> list[str]:
        """The conditions of a part, in the order of the plan."""
        return list(dict.fromkeys(job.condition for job, _ in
                                  sorted(self.done, key=lambda d: d[0].seed)
                                  if job.part == part))  # fmt: skip
