"""Types of progress callbacks, and callbacks that do nothing."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]  # the step, and the share of it that is done, 0 to 1
ReportShare = Callable[[float], None]  # the share of one step that is done, 0 to 1


def unreported_progress(_step: str, _share: float) -> None:
    """A `Progress` callback that does nothing."""


def unreported(_share: float) -> None:
    """A `ReportShare` callback that does nothing."""
