"""The conversation as a record: whose turn it is, what is in the air, and until when."""

from __future__ import annotations

import math
from dataclasses import dataclass

from appliance.answer import NOTHING_ASKED, Answer, Question
from appliance.messages import Ask, Say, StateName

NEVER = math.inf


@dataclass(frozen=True)
class Rules:
    """How long each state may last without news, in seconds.

    verdict_s    hold without a verdict; then playback goes on
    speech_s     after the verdict "interruption" until the first words
    listening_s  between two pieces of the owner's speech
    think_s      thinking without a sentence
    stopped_s    for playback's word on how far the answer before was heard, before the next Think
    margin_s     beyond the sound that is still to come: a speaker that hangs is replaced by then
    failed_s     between two reminders that a part is broken
    needed       parts without which the box is dead
    """

    verdict_s: float = 1.0
    speech_s: float = 3.0
    listening_s: float = 33.0
    think_s: float = 30.0
    stopped_s: float = 0.15
    margin_s: float = 20.0
    failed_s: float = 60.0
    needed: frozenset[str] = frozenset({"playback", "capture", "listener"})


@dataclass(frozen=True)
class Conversation:
    """Who has the floor.

    turn          the answer that may sound, as on the floor
    until_s       this state's deadline
    hold          the newest onset's serial; `released` the one let go last
    held_until_s  when an open hold is let go without a verdict; NEVER when there is none
    answer        the answer in thought or in the air
    cut           an answer that was cut, until it is known how much of it was heard
    cut_due_s     when that is guessed rather than waited for
    kept          a question that got no answer yet, which the thinker keeps for the next Think
    kept_turn     its turn
    utterance     the utterance that is being listened to
    dropped       an utterance that the owner stopped or that is not to be answered
    waiting       what is to be said or asked once nothing else sounds
    muted         the microphone is off; nothing is heard, but typed questions are answered
    volume        of the voice, once the owner has changed it; None: as in the settings
    thinker_up    the model is loaded
    broken        needed parts that were given up, and cards that are gone
    """

    rules: Rules = Rules()
    state: StateName = "idle"
    turn: int = 0
    until_s: float = NEVER
    hold: int = 0
    released: int = 0
    held_until_s: float = NEVER
    answer: Answer | None = None
    cut: Answer | None = None
    cut_due_s: float = 0.0
    kept: Question = NOTHING_ASKED
    kept_turn: int = 0
    utterance: int | None = None
    dropped: int | None = None
    waiting: tuple[Say | Ask, ...] = ()
    muted: bool = False
    volume: float | None = None
    thinker_up: bool = False
    broken: frozenset[str] = frozenset()

    @property
    def held(self) -> bool:
        return self.held_until_s < NEVER

    @property
    def deadline_s(self) -> float:
        """When a Tick is due."""
        return min(self.until_s, self.held_until_s)

    @property
    def at_rest(self) -> bool:
        """Nothing sounds, and nobody waits for anything."""
        return self.state in ("idle", "muted", "failed") and self.answer is None and not self.held
