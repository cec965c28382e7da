"""The state of the dialogue as an immutable dataclass. Each of its parts has a file of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from appliance.dialog.answer import Answer, Question
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
    """The complete state of the dialogue: which state it is in, and everything that belongs to it.

    policy      how long each state may last; it does not change
    state       the column of the tables in table.py
    turn        the answer that may sound, as on the floor
    until_s     this state's deadline
    hold        whether playback is held
    listening   which speech is accepted
    speech      the owner's current utterance and its words
    answer      the answer that is being generated or spoken
    cut         an answer that was cut, until playback reports how much of it was heard
    unanswered  a question without an answer, which is merged with the next one
    last_lines  the sentences of the last answer, for `Repeat`
    queue       announcements and questions that wait until nothing sounds
    ringing     timers and alarms that ring until they are stopped
    parts       which parts and cards work
    volume      of the voice, once the owner has changed it; None: as in the settings
    taken_back  number of answers that were started before the owner had finished the question
    passed_on   number of sentences spoken by another voice because the intended one failed
    language    of the box's own sentences: from the settings, or that of the last spoken answer
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
        """When the next Tick is due."""
        return min(self.until_s, self.hold.until_s, self.listening.deadline_s, self.ring_due_s)

    @property
    def ring_due_s(self) -> float:
        """When the next ring is due; NEVER while it has to wait. A first ring may cut an answer."""
        cuts = self.state == "speaking" and not self.ringing.began and not self.announcing
        return self.ringing.at_s if self.at_rest or cuts else NEVER

    @property
    def announcing(self) -> bool:
        """The current answer is the box's own, not the model's."""
        return self.answer is not None and self.answer.ours

    @property
    def at_rest(self) -> bool:
        """Nothing sounds, and no question or verdict is pending."""
        resting = self.state in ("idle", "muted", "failed")
        return resting and self.answer is None and not self.hold.open

    def owner_words(self, question: Question) -> str:
        """The owner's words of `question`, typed or found by the word recogniser; "": unknown."""
        return question.text or self.speech.words_of(question.utterances)

    def listening_command(self, now_s: float) -> SetListening:
        """The listening mode that the listener should apply now, and whether the newest onset came
        over an open question of the box."""
        mode = self.listening.command(self.state, ringing=self.ringing.rings, policy=self.policy)
        answer = self.answer if self.state == "holding" else None
        if answer is None or not answer.asks_owner(now_s):
            return mode
        return msgspec.structs.replace(mode, asked=self.hold.serial)
