"""What the page keeps of what was tried out, for as long as it runs. Pure."""

from __future__ import annotations

from appliance.page.findings import CheckRun


class TryState:
    """`check`: the findings of `interlude check`."""

    def __init__(self) -> None:
        self.check = CheckRun()
