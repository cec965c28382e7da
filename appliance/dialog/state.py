"""The state of the dialogue, an immutable record: state, answer, hold, and times until when."""

from __future__ import annotations

import math
from dataclasses import dataclass

from appliance.dialog.answer import NOTHING_ASKED, Answer, Question
from appliance.messages.commands import Ask, ModeName, Repeat, Say, StateName
from appliance.messages.hearing import SetListening

NEVER = math.inf


@dataclass(frozen=True)
class DialogPolicy:
    """How long each state may last without news, in seconds, and what else the settings say.

    verdict_s          hold without a verdict; then playback goes on
    speech_s           after the verdict "interruption" until the first words
    open_s             after the floor was opened for one turn until the first words
    listening_s        between two pieces of the owner's speech
    button_s           that a talk button may be down, or on; a stuck one is let go
    press_s            for the message that comes with a press
    ended_s            after the button came up until the listener has ended the utterance
    think_s            thinking without a sentence, and without news that the model gets on
    max_think_s        since the question was complete, whatever the news
    stopped_s          for playback to say how much of the answer was heard, before the next Think
    margin_s           beyond the sound that is still to come; then the speaker is taken for hung
    failed_s           between two reminders that a part is broken
    grace_s            of an answer; speech that begins in them goes on with the question
    rapid_interrupt_s  after the answer went on: an onset within them makes it wait for calm
    resume_debounce_s  without another onset; then a restless answer goes on
    max_resume_wait_s  that a restless answer waits; then it goes on come what may
    stop_s             that a mere "stop" may last, pre-roll included; a longer utterance says more
    follow_s           after an answer in mode wake_word, in which no wake word is needed
    ring_every_s       of silence between two rings, in which "stop" is easily said
    ring_patience_s    that the box's own answer may still take when something begins to ring
    toggle             a press of the talk button begins, the next one ends
    by_voice           modes other than open in which speech over an answer interrupts it
    needed             parts without which the box is dead
    """

    verdict_s: float = 1.0
    speech_s: float = 3.0
    open_s: float = 6.0
    listening_s: float = 33.0
    button_s: float = 120.0
    press_s: float = 0.3
    ended_s: float = 1.0
    think_s: float = 30.0
    max_think_s: float = 180.0
    stopped_s: float = 0.15
    margin_s: float = 20.0
    failed_s: float = 60.0
    grace_s: float = 0.3
    rapid_interrupt_s: float = 1.0
    resume_debounce_s: float = 0.45
    max_resume_wait_s: float = 4.0
    stop_s: float = 1.8
    follow_s: float = 8.0
    ring_every_s: float = 2.5
    ring_patience_s: float = 5.0
    toggle: bool = False
    by_voice: frozenset[ModeName] = frozenset({"wake_word"})
    needed: frozenset[str] = frozenset({"playback", "capture", "listener"})


@dataclass(frozen=True)
class DialogState:
    """Who has the floor.

    turn                     the answer that may sound, as on the floor
    until_s                  this state's deadline
    hold                     the newest onset's serial; `released` the one that was let go last
    held_until_s             when an open hold is let go without a verdict; NEVER: none is open
    onset_index              where the newest onset's sound began; 0: not known
    resume_reason            why the answer resumes after the debounce; "": it does not wait
    rapid_interrupt_since_s  from when an onset counts as a rapid repeat; NEVER: none does
    went_on_s                when the answer last resumed after a hold
    press_until_s            when a press is let go whose message did not come; NEVER: none
    mode                     the listening mode: which speech is accepted
    button_until_s           when the talk button, down or on, is taken for stuck; NEVER: up
    wake_index               the card's index at the end of the wake word; 0: none opened the floor
    open_until_s             until when no wake word is needed; NEVER: one is needed
    opened_for_turn          the floor was opened for the turn that is being listened to
    listening_sent           the listening mode that the listener was sent last
    stop_word_serial         the onset or utterance whose words are a "stop" and no more; 0: none
    long_utterance           the newest utterance that was too long to be a mere "stop"
    understood               the newest words that were recognised: (serial of their sound, text)
    ringing                  what rings until it is stopped, a sentence each
    rang_once                all of that has begun to sound; `rang_through`: to its end
    ring_at_s                when it sounds next, if nobody talks
    last                     the last answer's sentences, to be said again
    answer                   the answer that is thought or spoken
    cut                      an answer that was cut, until it is known how much of it was heard
    cut_due_s                when that is estimated instead
    unanswered               a question without an answer, kept by the thinker for the next one
    unanswered_turn          its turn
    utterance                the utterance that is being listened to
    dropped                  an utterance that the owner stopped or that is not to be answered
    waiting                  what is said or asked once nothing else sounds
    refusal_logged           more was refused since `waiting` was empty, and the log has the line
    muted                    the owner has switched the microphone off
    switched_off             the switch on the housing has
    volume                   of the voice, once the owner has changed it; None: as in the settings
    thinker_up               the model is loaded
    broken                   needed parts that have failed, and cards that are gone
    lacks                    other parts that have failed
    """

    rules: DialogPolicy = DialogPolicy()
    state: StateName = "idle"
    turn: int = 0
    until_s: float = NEVER
    hold: int = 0
    released: int = 0
    held_until_s: float = NEVER
    onset_index: int = 0
    resume_reason: str = ""
    rapid_interrupt_since_s: float = NEVER
    went_on_s: float = -NEVER
    press_until_s: float = NEVER
    mode: ModeName = "open"
    button_until_s: float = NEVER
    wake_index: int = 0
    open_until_s: float = NEVER
    opened_for_turn: bool = False
    listening_sent: SetListening | None = None
    stop_word_serial: int = 0
    long_utterance: int = 0
    understood: tuple[int, str] = (0, "")
    ringing: tuple[str, ...] = ()
    rang_once: bool = False
    rang_through: bool = False
    ring_at_s: float = NEVER
    last: tuple[str, ...] = ()
    answer: Answer | None = None
    cut: Answer | None = None
    cut_due_s: float = 0.0
    unanswered: Question = NOTHING_ASKED
    unanswered_turn: int = 0
    utterance: int | None = None
    dropped: int | None = None
    waiting: tuple[Say | Ask | Repeat, ...] = ()
    refusal_logged: bool = False
    muted: bool = False
    switched_off: bool = False
    volume: float | None = None
    thinker_up: bool = False
    broken: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()

    @property
    def deaf(self) -> bool:
        """The microphone is off; nothing is heard, but typed questions are answered."""
        return self.muted or self.switched_off

    @property
    def held(self) -> bool:
        return self.held_until_s < NEVER

    @property
    def deadline_s(self) -> float:
        """When a Tick is due."""
        return min(
            self.until_s,
            self.held_until_s,
            self.press_until_s,
            self.button_until_s,
            self.open_until_s,
            self.ring_due_s,
        )

    @property
    def ring_due_s(self) -> float:
        """When something is to ring, as far as whoever talks lets it."""
        cuts = self.state == "speaking" and not self.rang_once and not self.announcing
        return self.ring_at_s if self.ringing and (self.at_rest or cuts) else NEVER

    @property
    def announcing(self) -> bool:
        """What is in the air is no answer of the model's."""
        return self.answer is not None and self.answer.ours

    @property
    def button(self) -> bool:
        """The talk button is down, or has been switched on."""
        return self.button_until_s < NEVER

    @property
    def at_rest(self) -> bool:
        """Nothing sounds, and nobody waits for anything."""
        return self.state in ("idle", "muted", "failed") and self.answer is None and not self.held
