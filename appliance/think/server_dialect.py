"""Request fields that switch a server's thinking off, in the dialects of several servers.

Thinking delays the spoken answer, and the thoughts are not spoken. No field is known to all
servers, so all are sent. If a server refuses a field, the request is repeated without it, and later
requests omit it. Pure. In: what a server refused. Out: the fields to send.
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
UNUSABLE = frozenset({400, 422})  # HTTP: the server does not accept this form of the request


class ServerDialect:
    """The fields that one server accepts, as found out since this process started."""

    def __init__(self) -> None:
        self._refused: frozenset[str] = frozenset()

    @property
    def fields(self) -> dict[str, Any]:
        """The fields to add to a request."""
        return {name: value for name, value in OFF.items() if name not in self._refused}

    @staticmethod
    def fields_for_retry(
        sent: Mapping[str, Any], status: int, body: bytes
    ) -> dict[str, Any] | None:
        """Return the fields for a retry after `sent` was refused with an HTTP status and text: all
        but the fields that the text names, or no field if it names none. None: the fields cannot
        be the cause."""
        if status not in UNUSABLE or not sent:
            return None
        text = body.decode("utf-8", "replace")
        named = {name for name in sent if re.search(rf"(?<!\w){name}(?!\w)", text)}
        return {name: value for name, value in sent.items() if named and name not in named}

    def record_accepted(self, sent: Mapping[str, Any]) -> list[str]:
        """Record that the server accepted `sent`. Return the fields that are newly omitted."""
        refused = frozenset(OFF) - frozenset(sent)
        new = refused - self._refused
        self._refused |= refused
        return sorted(new)
