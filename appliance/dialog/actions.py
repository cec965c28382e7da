"""Actions that a transition returns. The conductor carries them out, in the order given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from appliance.messages.commands import Opening, StateName
from appliance.messages.registry import Message
from appliance.tools.confirmation import Asker
from appliance.tools.tool_call_syntax import ToolCall

PartName = Literal["capture", "playback", "listener", "thinker", "speaker", "link", "panel", "page"]


@dataclass(frozen=True)
class RaiseTurn:
    """Only answer `turn` may sound from now on; frames of older ones are dropped."""

    turn: int


@dataclass(frozen=True)
class ReleaseHold:
    """Release onset `serial`: playback resumes once this equals the floor's `hold`."""

    serial: int


@dataclass(frozen=True)
class AcknowledgePress:
    """Acknowledge the newest press of a button: its effect has been carried out."""


@dataclass(frozen=True)
class SetMuted:
    """Mute or unmute the microphone."""

    on: bool


@dataclass(frozen=True)
class SendMessage:
    """Send `message` to `part`."""

    part: PartName
    message: Message


@dataclass(frozen=True)
class Remember:
    """Store a finished turn in the memory: the question, and the heard part of the answer.

    `asked` is "" for speech, whose transcript may follow later; `seconds` is how long the owner
    spoke; `asked_at_s` is on the clock of the `now_s` of `step`.
    """

    turn: int
    asked_at_s: float
    asked: str
    seconds: float
    heard: str
    complete: bool


@dataclass(frozen=True)
class SendRecall:
    """Send the last turns from the memory to a thinker that has just started."""


@dataclass(frozen=True)
class EraseMemory:
    """Erase the memory on disk, or only its last turn, or only the `chosen` one (start time and
    number); a Forgotten follows. `aloud`: announce the result."""

    last: bool = False
    aloud: bool = False
    chosen: tuple[str, int] | None = None


@dataclass(frozen=True)
class UseTool:
    """Run the tool of call `number` in answer `turn`; a ToolReply follows.

    `opening`, `first_turn`: copied from the question (answer.py). `words`: the owner's own in it.
    """

    turn: int
    number: int
    call: ToolCall
    opening: Opening = ""
    first_turn: int | None = None
    words: str = ""

    @property
    def asker(self) -> Asker:
        """How the owner asked. Its turn is that in which the question began: a continued question
        cannot confirm itself."""
        turn = self.turn if self.first_turn is None else self.first_turn
        return Asker(turn, self.opening, self.words)


@dataclass(frozen=True)
class StopRinging:
    """Stop the timers and alarms that ring, on the owner's request."""


@dataclass(frozen=True)
class AnnounceState:
    """Log the new state and send it to the parts that follow it. `ring`: because a timer rings."""

    state: StateName
    turn: int
    reason: str
    ring: bool = False


@dataclass(frozen=True)
class LogNote:
    """Write one warning to the log."""

    text: str


Action = (
    RaiseTurn | ReleaseHold | AcknowledgePress | SetMuted | SendMessage | Remember | SendRecall |
    EraseMemory | UseTool
    | StopRinging | AnnounceState | LogNote
)  # fmt: skip
