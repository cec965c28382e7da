"""The end of an answer that nobody wants any more."""

from __future__ import annotations


class AnswerAbandoned(Exception):
    """Nobody wants the answer any more: `interrupt` was called while the model was at work."""
