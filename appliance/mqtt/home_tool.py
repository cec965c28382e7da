"""The house bridge: the model's `home` tool asks Home Assistant, in plain words, and is answered.

Requests go to `…/ha/request`, `{"id", "text"}`; an automation (docs/blueprints/house-bridge.yaml)
has Home Assistant's own conversation agent act on them and answers on `…/ha/response`. Pure. What
comes back may have been written by anybody who can write to the broker: it is an answer to nothing
but a request that is open, once, and no more than one short line of plain words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import msgspec

from appliance.messages.tools import HouseRequest, HouseResponse
from appliance.mqtt.command_topics import CommandRefusal, CommandRejected
from appliance.record_file import UNREADABLE
from appliance.tools.tool_call_syntax import plain

MOST_OPEN = 8  # requests that may still be answered; the conductor waits for the newest only
DONE = ("action_done", "query_answer")  # of Home Assistant's types of responses
MOST_BYTES = 8000  # of a response: targets and all


class _Response(msgspec.Struct, frozen=True):
    """Home Assistant's conversation response, as the blueprint passes it on, and more keys."""

    id: str
    type: str | None = None
    speech: str | None = None


class HomeToolBridge:
    """`rng`, 0 to 1, makes ids that nobody guesses who cannot read the requests."""

    def __init__(self, rng: Callable[[], float]) -> None:
        self._rng = rng
        self._open: deque[tuple[str, int]] = deque(maxlen=MOST_OPEN)

    def encode_request(self, request: HouseRequest) -> bytes:
        """What is published."""
        name = f"{request.number}-{int(self._rng() * 2**48):012x}"
        self._open.append((name, request.number))
        return msgspec.json.encode({"id": name, "text": request.text})

    def parse_response(self, payload: bytes, *, retained: bool) -> HouseResponse:
        """What the house said. Raises CommandRejected for what is no answer to anything."""
        if retained:
            raise _refused("retained: it answers nothing that was asked now")
        if len(payload) > MOST_BYTES:
            raise _refused(f"longer than {MOST_BYTES} bytes")
        try:
            said = msgspec.json.decode(payload, type=_Response)
        except UNREADABLE as error:
            raise _refused("no response of the blueprint's form") from error
        number = next((number for name, number in self._open if name == said.id), None)
        if number is None:
            raise _refused("nobody asked, or it was answered already")
        self._open.remove((said.id, number))
        return HouseResponse(number, plain(said.speech or ""), said.type in DONE)


def _refused(why: str) -> CommandRejected:
    return CommandRejected(CommandRefusal("ha/response", why))
