"""Actions that a transition returns. The conductor carries them out, in the order given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from appliance.messages.commands import StateName
from appliance.messages.registry import Message
from appliance.tools.tool_call_syntax import ToolCall

PartName = Literal["capture", "playback", "listener", "thinker", "speaker", "link", "panel"]


@dataclass(frozen=True)
class RaiseTurn:
    """Only answer `turn` may sound from now on; frames of older ones are dropped."""

    turn: int


@dataclass(frozen=True)
class ReleaseHold:
    """Let go of onset `serial`: playback sounds again once this equals the floor's hold."""

    serial: int


@dataclass(frozen=True)
class AcknowledgePress:
    """Let go of the newest press of a button: what it asked for is done."""


@dataclass(frozen=True)
class SetMuted:
    """Turn the microphone off, or on."""

    on: bool


@dataclass(frozen=True)
class SendMessage:
    """Post `message` to `part`."""

    part: PartName
    message: Message


@dataclass(frozen=True)
class Remember:
    """A turn is over: what was asked, and what was heard of the answer.

    `asked` is "" for speech, whose transcript may come later; `seconds` is how long the owner
    spoke; `asked_at_s` is on the clock that `step` is given.
    """

    turn: int
    asked_at_s: float
    asked: str
    seconds: float
    heard: str
    complete: bool


@dataclass(frozen=True)
class SendRecall:
    """The thinker has begun afresh: send it the last turns from memory."""


@dataclass(frozen=True)
class EraseMemory:
    """Delete the memory on disk, or only the last turn of it, or only the `chosen` one (when it
    began, and its number); a Forgotten is awaited."""

    last: bool = False
    aloud: bool = False
    chosen: tuple[str, int] | None = None


@dataclass(frozen=True)
class UseTool:
    """Do what call `number` of answer `turn` asks for; a ToolReply is awaited.

    `chosen`, `first_turn`: as of the question (answer.py).
    """

    turn: int
    number: int
    call: ToolCall
    chosen: bool = False
    first_turn: int | None = None

    @property
    def begun(self) -> int:
        """The turn in which its question was begun: a question that goes on is not asked twice."""
        return self.turn if self.first_turn is None else self.first_turn


@dataclass(frozen=True)
class StopRinging:
    """The owner stopped what was ringing."""


@dataclass(frozen=True)
class AnnounceState:
    """The state changed: tell those who watch, and the log. `ring`: to speaking, of a timer."""

    state: StateName
    turn: int
    reason: str
    ring: bool = False


@dataclass(frozen=True)
class LogNote:
    """One line for the log."""

    text: str


Action = (
    RaiseTurn | ReleaseHold | AcknowledgePress | SetMuted | SendMessage | Remember | SendRecall |
    EraseMemory | UseTool
    | StopRinging | AnnounceState | LogNote
)  # fmt: skip
