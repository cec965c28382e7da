"""Request fields that switch a server's thinking off, in the dialects of several servers.

Who asked aloud cannot wait for thoughts that nobody hears. No field is understood everywhere, so
all are sent. A server that refuses a field is asked again without it, and not sent it any more.
Pure. In: what a server refused. Out: the fields to send.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

OFF: Mapping[str, Any] = {
    "reasoning_effort": "none",  # OpenAI's; llama-server's and Ollama's, too, in newer versions
    "chat_template_kwargs": {"enable_thinking": False},  # llama-server's
    "think": False,  # Ollama's own
}
UNUSABLE = frozenset({400, 422})  # HTTP: the server does not take this form of the request


class ServerDialect:
    """Of one server, as long as this process runs."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()

    @property
    def fields(self) -> dict[str, Any]:
        """What to send beside the request."""
        return {name: value for name, value in OFF.items() if name not in self._refused}

    @staticmethod
    def fewer(sent: Mapping[str, Any], status: int, said: bytes) -> dict[str, Any] | None:
        """What to try after `sent` was refused with an HTTP status and these words: all but the
        fields that are named, or none if none is named. None: it cannot have been the fields."""
        if status not in UNUSABLE or not sent:
            return None
        text = said.decode("utf-8", "replace")
        named = {name for name in sent if re.search(rf"(?<!\w){name}(?!\w)", text)}
        return {name: value for name, value in sent.items() if named and name not in named}

    def record_accepted(self, sent: Mapping[str, Any]) -> list[str]:
        """The server took `sent`, and no more. Returns what is not sent from now on, as news."""
        refused = frozenset(OFF) - frozenset(sent)
        news = refused - self._refused
        self._refused |= refused
        return sorted(news)
