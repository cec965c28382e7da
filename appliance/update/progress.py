"""How far something is that takes long: what is called with it, and who shows it to nobody."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]  # what is being done, and how much of it is: 0 to 1
ReportShare = Callable[[float], None]  # how much of the one thing is done: 0 to 1


def unreported_progress(_step: str, _share: float) -> None:
    """Progress that nobody shows."""


def unreported(_share: float) -> None:
    """A share that nobody shows."""
