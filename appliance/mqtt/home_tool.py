"""The house bridge: passes a request of the model's `home` tool to Home Assistant as plain text.

Requests go to `…/ha/request`, `{"id", "text"}`; an automation (docs/blueprints/house-bridge.yaml)
passes them to Home Assistant's conversation agent and publishes its answer on `…/ha/response`.
A request that touches a lock or the like is confirmed or refused there: the answer's type is then
`confirm`, with the name of what it touches.
Pure. Any client of the broker may have written a response: it is accepted once, only for an open
request, and reduced to one short line of plain text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import msgspec

from appliance.messages.tools import HouseRequest, HouseResponse
from appliance.mqtt.command_topics import CommandRefusal, CommandRejected
from appliance.record_file import UNREADABLE
from appliance.tools.tool_call_syntax import plain

MOST_OPEN = 8  # requests that may still be answered; the conductor waits only for the newest
CONFIRM = "confirm"  # the blueprint's own type: the request must be confirmed
NAME_LETTERS = 80
DONE = ("action_done", "query_answer")  # Home Assistant's response types that mean success
MOST_BYTES = 8000  # of a response, which may list the targets of an action


class _Response(msgspec.Struct, frozen=True):
    """The keys used here of Home Assistant's conversation response, which the blueprint
    forwards."""

    id: str
    type: str | None = None
    speech: str | None = None
    name: str | None = None


class HomeToolBridge:
    """`rng`, 0 to 1, makes ids that a client cannot guess unless it can read the requests."""

    def __init__(self, rng: Callable[[], float]) -> None:
        self._rng = rng
        self._open: deque[tuple[str, int]] = deque(maxlen=MOST_OPEN)

    def encode_request(self, request: HouseRequest) -> bytes:
        """Return the payload to publish, and keep the request open for its response."""
        id_ = f"{request.number}-{int(self._rng() * 2**48):012x}"
        self._open.append((id_, request.number))
        payload = {"id": id_, "text": request.text, "confirmed": request.confirmed}
        return msgspec.json.encode({**payload, "harmless": request.harmless})

    def parse_response(self, payload: bytes, *, retained: bool) -> HouseResponse:
        """Return Home Assistant's answer. Raises CommandRejected if it matches no open request."""
        if retained:
            raise _refused("retained: not the answer to an open request")
        if len(payload) > MOST_BYTES:
            raise _refused(f"longer than {MOST_BYTES} bytes")
        try:
            response = msgspec.json.decode(payload, type=_Response)
        except UNREADABLE as error:
            raise _refused("not in the format of the blueprint") from error
        number = next((number for name, number in self._open if name == response.id), None)
        if number is None:
            raise _refused("no open request has this id")
        self._open.remove((response.id, number))
        text = plain(response.speech or "")
        if response.type == CONFIRM:
            name = plain(response.name or "")[:NAME_LETTERS].strip()
            return HouseResponse(number, text, done=False, confirm=True, name=name)
        return HouseResponse(number, text, response.type in DONE)


def _refused(why: str) -> CommandRejected:
    return CommandRejected(CommandRefusal("ha/response", why))
