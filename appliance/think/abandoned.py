"""The end of an answer that was cancelled."""

from __future__ import annotations


class AnswerAbandoned(Exception):
    """The answer was cancelled: `interrupt` was called while the model was at work."""
