"""Requests of the page to a privileged unit, and the status of the last one. Never blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from appliance.runtime import handed_request
from appliance.runtime.handed_request import CHANGED, WANTED, RequestOutcome, RequestRecord

Standing = Literal["", "awaited", "done", "failed"]


@dataclass
class HandedChanges:
    """Requests of one name. `now_s`: a monotonic clock. `longest_s`: a request without an outcome
    counts as failed after this time. `told`: name of the outcome's file, if it differs."""

    name: str
    now_s: Callable[[], float]
    wanted: Path = WANTED
    changed: Path = CHANGED
    longest_s: float = 60.0
    told: str = ""
    _last: str = field(default="", init=False)
    _since_s: float = field(default=0.0, init=False)
    _outcome: RequestOutcome | None = field(default=None, init=False)

    @property
    def is_served(self) -> bool:
        """Whether the request folder exists; where it does, the units are installed, too."""
        return self.wanted.is_dir()

    def ask(self, record: RequestRecord) -> None:
        """Write a request. Raises NotAllowed, StorageError (runtime/handed_request.py)."""
        handed_request.ask(self.name, record, self.wanted)
        self._last, self._since_s, self._outcome = record.id, self.now_s(), None

    def made(self, record: RequestRecord) -> None:
        """Note a change that this process has made itself."""
        self._last, self._outcome = record.id, RequestOutcome(record.id)

    @property
    def last(self) -> str:
        """The id of the last request; "" before the first."""
        return self._last

    @property
    def outcome(self) -> RequestOutcome | None:
        """The outcome of the last request; None while there is none."""
        if self._last and self._outcome is None:
            self._outcome = handed_request.outcome(self.told or self.name, self._last, self.changed)
        return self._outcome

    def progress(self) -> tuple[Standing, str]:
        """The status of the last request, and its problem; "" if no problem was reported."""
        if not self._last:
            return "", ""
        found = self.outcome
        if found is None:
            late = self.now_s() - self._since_s > self.longest_s
            return ("failed", "") if late else ("awaited", "")
        problem = " ".join(filter(None, (found.problem, found.remedy)))
        return ("failed" if problem else "done"), problem
