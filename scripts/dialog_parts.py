"""The parts of the dialogue's state for appliance/dialog/table.md: phases, operations, samples.

Each part has phases. There is a sample value for each phase and sample arguments for each
operation; the page shows the phase that each operation leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.dialog.answer import Answer
from appliance.dialog.cut_answer import CutAnswer
from appliance.dialog.hold import OutputHold
from appliance.dialog.listening_state import ListeningState
from appliance.dialog.owner_speech import OwnerSpeech
from appliance.dialog.part_availability import PartAvailability
from appliance.dialog.policy import NEVER, DialogPolicy
from appliance.dialog.request_queue import MOST_WAITING, RequestQueue
from appliance.dialog.ring_schedule import RingSchedule
from appliance.messages.commands import Say
from appliance.messages.hearing import SetListening
from appliance.messages.speech import Spoken

NOW_S = 100.0
LATER_S = 101.0
POLICY = DialogPolicy()
LINE, OTHER = ("Tea.",), ("Tea.", "Eggs.")
SAY = Say("Tea.")


@dataclass(frozen=True)
class Operation:
    """A method of a part with sample arguments; `case` names the sample if there are several."""

    name: str
    arguments: tuple[Any, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()
    case: str = ""

    def apply(self, part: Any) -> Any:
        return getattr(part, self.name)(*self.arguments, **dict(self.keywords))


@dataclass(frozen=True)
class StatePart:
    """A field of DialogState. `phases`: phase → sample value; `phase`: returns a value's phase.

    `without`: pairs of a phase and an operation that no handler applies in it.
    """

    field: str
    phases: dict[str, Any]
    phase: Callable[[Any], str]
    operations: tuple[Operation, ...]
    without: frozenset[tuple[str, str]] = frozenset()

    @property
    def kind(self) -> type:
        return type(next(iter(self.phases.values())))

    def after(self, phase: str, operation: Operation) -> str:
        """The phase after the operation; "" if the result is not consistent."""
        if (phase, operation.name) in self.without:
            return ""
        result = operation.apply(self.phases[phase])
        return self.phase(result) if getattr(result, "consistent", True) else ""


def _hold(hold: OutputHold) -> str:
    if not hold.open:
        return "closed"
    if hold.resume_reason:
        return "debouncing"
    return "open" if hold.rapid_since_s == NEVER else "rapid"


def _listening(it: ListeningState) -> str:
    if it.microphone_off:
        return "microphone off"
    if it.button_down:
        return "button down"
    if it.opened_for_turn:
        return "open for a turn"
    return "by mode" if it.open_until_s == NEVER else "wake word spared"


def _speech(speech: OwnerSpeech) -> str:
    heard = "silent" if speech.utterance is None else "an utterance"
    return f'{heard}, "stop"' if speech.stop_serial else heard


def _cut(cut: CutAnswer) -> str:
    if cut.unheard:
        return "unheard"
    return "unwanted" if cut.unwanted else "cut"


def _queue(queue: RequestQueue) -> str:
    if queue.full:
        return "full, refused" if queue.refused else "full"
    return "waiting" if queue.requests else "empty"


def _ringing(ringing: RingSchedule) -> str:
    if not ringing.rings:
        return "silent"
    if ringing.heard:
        return "heard"
    return "begun" if ringing.began else "due"


def _parts(parts: PartAvailability) -> str:
    if parts.broken:
        return "voiceless" if parts.voiceless else "broken"
    if not parts.thinker_up:
        return "loading"
    return "degraded" if parts.degraded else "all up"


HELD = OutputHold(3, 3, resumed_s=NOW_S).start(4, 0, LATER_S)
RAPID = HELD.mark_rapid(NOW_S, POLICY)
WAKE_WORD = ListeningState("wake_word")
RINGING = RingSchedule().set_lines(LINE, NOW_S)
FULL = RequestQueue(MOST_WAITING * (SAY,))
UP = PartAvailability(thinker_up=True)

PARTS = (
    StatePart(
        "hold",
        {"closed": HELD.release(), "open": HELD, "rapid": RAPID,
         "debouncing": RAPID.debounce("noise", LATER_S)},
        _hold,
        (
            Operation("start", (5, 0, LATER_S)),
            Operation("mark_rapid", (NOW_S, POLICY)),
            Operation("extend", (LATER_S,)),
            Operation("debounce", ("noise", LATER_S)),
            Operation("give_way", (LATER_S,)),
            Operation("adopt", (5,)),
            Operation("release"),
            Operation("resume", (NOW_S,)),
        ),
        frozenset({("closed", "debounce")}),
    ),
    StatePart(
        "listening",
        {"by mode": WAKE_WORD, "open for a turn": WAKE_WORD.open_for_turn("wake_word"),
         "button down": ListeningState("push_to_talk").open_for_turn("hand").hold_button(LATER_S),
         "wake word spared": WAKE_WORD.spare_wake_word(NOW_S, POLICY),
         "microphone off": ListeningState(muted=True)},
        _listening,
        (
            Operation("open_for_turn", ("hand",)),
            Operation("wake", (1_000_000,)),
            Operation("hold_button", (LATER_S,)),
            Operation("release_button"),
            Operation("take_question"),
            Operation("await_confirmation"),
            Operation("end_turn"),
            Operation("spare_wake_word", (NOW_S, POLICY)),
            Operation("need_wake_word"),
            Operation("set_mode", ("wake_word",)),
            Operation("set_microphone", (), (("muted", False), ("switched_off", True)), "off"),
            Operation("set_microphone", (), (("muted", False), ("switched_off", False)), "on"),
            Operation("await_press", (LATER_S,)),
            Operation("acknowledge_press"),
            Operation("mark_sent", (SetListening(True, "open"),)),
        ),
    ),
    StatePart(
        "speech",
        {"silent": OwnerSpeech(), "an utterance": OwnerSpeech().listen(4),
         'silent, "stop"': OwnerSpeech().note_stop(4),
         'an utterance, "stop"': OwnerSpeech().listen(4).note_stop(4)},
        _speech,
        (
            Operation("begin", (4, 0, "hand")),
            Operation("listen", (4,)),
            Operation("note_wake_word", (1_000_000,)),
            Operation("end"),
            Operation("drop"),
            Operation("note_words", (4, "stop", "stop")),
            Operation("note_stop", (4,)),
            Operation("refute_stop", (4,)),
            Operation("clear_stop"),
            Operation("note_long", (4,)),
        ),
    ),
    StatePart(
        "cut",
        {"cut": CutAnswer(Answer(7), LATER_S), "unwanted": CutAnswer(Answer(7), LATER_S).stop(),
         "unheard": CutAnswer(Answer(7), LATER_S, unheard=True)},
        _cut,
        (
            Operation("set_position", (0, NOW_S)),
            Operation("set_timing", (Spoken(1, 0, 0, 0, 0.0),)),
            Operation("stop"),
        ),
    ),
    StatePart(
        "queue",
        {"empty": RequestQueue(), "waiting": RequestQueue().add(SAY), "full": FULL,
         "full, refused": FULL.add(SAY)},
        _queue,
        (
            Operation("add", (SAY,)),
            Operation("add_first", (SAY,)),
            Operation("remove_first"),
            Operation("clear"),
        ),
    ),
    StatePart(
        "ringing",
        {"silent": RingSchedule(), "due": RINGING, "begun": RINGING.begin(),
         "heard": RINGING.begin().finish(LINE)},
        _ringing,
        (
            Operation("set_lines", (OTHER, NOW_S), case="one more"),
            Operation("set_lines", (LINE, NOW_S), case="no new one"),
            Operation("set_lines", ((), NOW_S), case="none"),
            Operation("begin"),
            Operation("finish", (LINE,)),
            Operation("put_off", (LATER_S,)),
            Operation("stop"),
        ),
        frozenset({("silent", "begin")}),
    ),
    StatePart(
        "parts",
        {"loading": PartAvailability(), "all up": UP, "degraded": UP.fail("words", needed=False),
         "broken": UP.fail("listener", needed=True), "voiceless": UP.fail("playback", needed=True)},
        _parts,
        (
            Operation("set_thinker", (), (("up", True),), "up"),
            Operation("set_thinker", (), (("up", False),), "down"),
            Operation("fail", ("words",), (("needed", False),), "not needed"),
            Operation("fail", ("listener",), (("needed", True),), "needed"),
            Operation("fail", ("playback",), (("needed", True),), "the voice"),
            Operation("restore", ("listener",)),
        ),
    ),
)  # fmt: skip
