"""What the page has asked a unit with rights for, and how it stands. Nothing here waits."""

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
    """Requests of one name. `now_s`: a clock that never runs backwards. `longest_s`: until the
    outcome is not waited for any more. `told`: the outcome's name, if it has another."""

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
        """Somebody made the folder, and so the units: a box."""
        return self.wanted.is_dir()

    def ask(self, record: RequestRecord) -> None:
        """Raises NotAllowed, StorageError (runtime/handed_request.py)."""
        handed_request.ask(self.name, record, self.wanted)
        self._last, self._since_s, self._outcome = record.id, self.now_s(), None

    def made(self, record: RequestRecord) -> None:
        """It was done here and now."""
        self._last, self._outcome = record.id, RequestOutcome(record.id)

    @property
    def last(self) -> str:
        """The id of the last request; "" before the first."""
        return self._last

    @property
    def outcome(self) -> RequestOutcome | None:
        """What came of the last request; None as long as it is not known."""
        if self._last and self._outcome is None:
            self._outcome = handed_request.outcome(self.told or self.name, self._last, self.changed)
        return self._outcome

    def standing(self) -> tuple[Standing, str]:
        """How the last request stands, and what was wrong with it; "" where nobody said so."""
        if not self._last:
            return "", ""
        found = self.outcome
        if found is None:
            late = self.now_s() - self._since_s > self.longest_s
            return ("failed", "") if late else ("awaited", "")
        problem = " ".join(filter(None, (found.problem, found.remedy)))
        return ("failed" if problem else "done"), problem
