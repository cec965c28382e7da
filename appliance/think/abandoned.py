"""The exception that reports a cancelled answer."""

from __future__ import annotations


class AnswerAbandoned(Exception):
    """Raised when `interrupt` cancels the model's work on an answer."""
