"""The dialogue's policy: how long each state may last, and other choices from the settings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from appliance.messages.commands import ModeName

NEVER = math.inf


@dataclass(frozen=True)
class DialogPolicy:
    """Time limits of the dialogue in seconds, and other choices from the settings.

    `dialog_policy` in timeouts.py computes them from the settings; verdict_s, for instance, is
    0.3 s longer than `hearing.verdict.deadline_ms`. Fields without a setting keep the default.

    verdict_s          hold without a verdict; then playback resumes
    yield_s            from the verdict "interruption" until the answer is dropped, if by then the
                       listener has not taken what was said for nothing
    speech_s           from the verdict "interruption" to the first words
    open_s             from opening the floor for one turn to the first words
    listening_s        between two pieces of the owner's speech
    button_s           maximum time that a talk button is down, or on; then it counts as stuck
    press_s            wait for the message that follows a press
    ended_s            from the button's release until the listener has ended the utterance
    think_s            thinking without a sentence or a progress message
    max_think_s        thinking in all, since the question was complete
    stopped_s          wait for playback to report the heard part of an answer before the next Think
    margin_s           beyond the sound that remains; then the speaker counts as hung
    failed_s           between two reminders that a part is broken
    grace_s            start of an answer; speech that begins in it continues the question
    rapid_interrupt_s  after a resume; an onset within it makes the answer wait for the debounce
    rewind_s           quiet time before a sentence is repeated; playback reads its messages in it
    resume_debounce_s  quiet time before a rapidly interrupted answer resumes
    max_resume_wait_s  maximum wait for that quiet time; then the answer resumes anyway
    stop_s             maximum length of a mere "stop", pre-roll included
    follow_s           after an answer in mode wake_word; no wake word is needed in it
    ring_every_s       silence between two rings, in which the owner can say "stop"
    ring_patience_s    how long an answer may go on once something begins to ring
    toggle             one press of the talk button starts talking, the next one ends it
    by_voice           modes other than open in which speech over an answer interrupts it
    needed             parts without which the box cannot work
    follows_language   the box's own sentences are in the language of the last answer
    """

    verdict_s: float = 1.0
    yield_s: float = 1.2
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
    rewind_s: float = 0.2
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
