"""The state of the dialogue, an immutable record. Each of its parts has a file of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from appliance.dialog.answer import Answer
from appliance.dialog.cut_answer import CutAnswer, UnansweredQuestion
from appliance.dialog.hold import OutputHold
from appliance.dialog.listening_state import ListeningState
from appliance.dialog.owner_speech import OwnerSpeech
from appliance.dialog.part_availability import PartAvailability
from appliance.dialog.policy import NEVER, DialogPolicy
from appliance.dialog.request_queue import RequestQueue
from appliance.dialog.ring_schedule import RingSchedule
from appliance.language.catalogue import SOURCE
from appliance.messages.commands import StateName
from appliance.messages.hearing import SetListening


@dataclass(frozen=True)
class DialogState:
    """Who has the floor.

    policy      how long each state may last; it does not change
    state       the row of the tables in table.py
    turn        the answer that may sound, as on the floor
    until_s     this state's deadline
    hold        whether playback is held
    listening   which speech is accepted
    speech      what the owner says
    answer      the answer that is thought or spoken
    cut         an answer that was cut, until it is known how much of it was heard
    unanswered  a question without an answer, which is to join the next one
    last_lines  the last answer's sentences, to be said again
    queue       what is said or asked once nothing else sounds
    ringing     what rings until it is stopped
    parts       which parts and cards work
    volume      of the voice, once the owner has changed it; None: as in the settings
    taken_back  answers that were begun before the owner had finished the question
    passed_on   sentences that another voice said than was to
    language    of what the box says by itself: the settings', or of the last answer that was said
    """

    policy: DialogPolicy = field(default_factory=DialogPolicy)
    state: StateName = "idle"
    turn: int = 0
    until_s: float = NEVER
    hold: OutputHold = field(default_factory=OutputHold)
    listening: ListeningState = field(default_factory=ListeningState)
    speech: OwnerSpeech = field(default_factory=OwnerSpeech)
    answer: Answer | None = None
    cut: CutAnswer | None = None
    unanswered: UnansweredQuestion | None = None
    last_lines: tuple[str, ...] = ()
    queue: RequestQueue = field(default_factory=RequestQueue)
    ringing: RingSchedule = field(default_factory=RingSchedule)
    parts: PartAvailability = field(default_factory=PartAvailability)
    volume: float | None = None
    taken_back: int = 0
    passed_on: int = 0
    language: str = SOURCE

    @property
    def deadline_s(self) -> float:
        """When a Tick is due."""
        return min(self.until_s, self.hold.until_s, self.listening.deadline_s, self.ring_due_s)

    @property
    def ring_due_s(self) -> float:
        """When something is to ring, as far as whoever talks lets it."""
        cuts = self.state == "speaking" and not self.ringing.began and not self.announcing
        return self.ringing.at_s if self.at_rest or cuts else NEVER

    @property
    def announcing(self) -> bool:
        """What is in the air is no answer of the model's."""
        return self.answer is not None and self.answer.ours

    @property
    def at_rest(self) -> bool:
        """Nothing sounds, and nobody waits for anything."""
        resting = self.state in ("idle", "muted", "failed")
        return resting and self.answer is None and not self.hold.open

    @property
    def listening_command(self) -> SetListening:
        """How the listener is to take what is said from now on."""
        return self.listening.command(self.state, ringing=self.ringing.rings, policy=self.policy)
