"""How long each state of the dialogue may last, and what else of it the settings say."""

from __future__ import annotations

import math
from dataclasses import dataclass

from appliance.messages.commands import ModeName

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
    follows_language   what the box says by itself is in the language of the last answer
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
    follows_language: bool = True
