"""A dialogue state machine for tests, with its own clock and a record of all its actions."""

from __future__ import annotations

from typing import TypeVar

from appliance.dialog.actions import Action, AnnounceState, Remember, SendMessage
from appliance.dialog.policy import DialogPolicy
from appliance.dialog.state_machine import DialogEvent, Tick, initial_state, step
from appliance.messages.commands import ModeName, Mute
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import (
    CardLost,
    PlaybackFinished,
    PlaybackResumed,
    PlaybackStarted,
)
from appliance.messages.speech import Speak, Spoken
from appliance.messages.thinking import Sentence, ThinkerReady, ThoughtEnded
from appliance.pcm import RATE_HZ

M = TypeVar("M")

RULES = DialogPolicy()


class Talk:
    """`said`: the actions of the last call; `all`: every action so far."""

    def __init__(
        self,
        *,
        ready: bool = True,
        mode: ModeName = "open",
        rules: DialogPolicy = RULES,
        language: str = "en",
    ) -> None:
        self.now_s = 100.0
        self.it, actions = initial_state(rules, self.now_s, mode=mode, language=language)
        self.all: list[Action] = list(actions)
        self.said: list[Action] = []
        if ready:
            self(ThinkerReady("pocket"))
        self.said.clear()

    @property
    def state(self) -> str:
        return self.it.state

    @property
    def turn(self) -> int:
        return self.it.turn

    @property
    def index(self) -> int:
        """The sound card's frame index at the present time."""
        return round(self.now_s * RATE_HZ)

    def __call__(self, *messages: DialogEvent, after_s: float = 0.0) -> list[Action]:
        """Feed the messages, the first after `after_s`; returns their actions."""
        self.now_s += after_s
        self.said = []
        for message in messages:
            self.it, actions = step(self.it, message, self.now_s)
            self.said += actions
        self.all += self.said
        return self.said

    def wait(self, seconds: float, hold: int | None = None) -> list[Action]:
        """Let the time pass in ten ticks."""
        said: list[Action] = []
        for _ in range(10):
            said += self(Tick(hold), after_s=seconds / 10)
        self.said = said
        return said

    def sent(self, kind: type[M], *, ever: bool = False) -> list[M]:
        """Messages of this type sent by the last actions, or by all of them."""
        actions = self.all if ever else self.said
        found = [action.message for action in actions if isinstance(action, SendMessage)]
        return [message for message in found if isinstance(message, kind)]

    def done(self, kind: type[M]) -> list[M]:
        return [action for action in self.said if isinstance(action, kind)]

    def remembered(self) -> list[tuple[str, bool]]:
        return [(a.heard, a.complete) for a in self.all if isinstance(a, Remember)]

    def states(self) -> list[str]:
        return [action.state for action in self.all if isinstance(action, AnnounceState)]

    # ── how to reach each state ──────────────────────────────────────────────────────────────
    def speech(self, utterance: int = 1, seconds: float = 2.0) -> None:
        """A spoken question, from its onset to its end."""
        self(Onset(utterance, 0, speaking=False))
        self(SpeechStarted(utterance, utterance, 0), after_s=0.3)
        frames = round(seconds * RATE_HZ)
        self(SpeechEnded(utterance, 0, frames, last=True), after_s=seconds)

    def answer(self, *sentences: str, seconds: float = 2.0) -> int:
        """The thinker answers and playback starts. Returns the turn."""
        turn = self.turn
        for number, text in enumerate(sentences):
            frames = round(seconds * RATE_HZ)
            self(Sentence(turn, number, text))
            self(Spoken(turn, number, number * frames, frames, 5.0))
        self(ThoughtEnded(turn, len(sentences), "complete"))
        self(PlaybackStarted(turn, 0), after_s=0.2)
        return turn

    def answer_goes_on(self) -> None:
        """Playback has resumed."""
        self(PlaybackResumed(self.turn, self.it.hold.serial, 16_000, 0))

    def finish(self, position: int = 0) -> None:
        self(PlaybackFinished(self.turn, position, 0), after_s=1.0)


MOON = ("The moon is grey.", "It has no air.", "Nobody lives there.")


def talk_in(state: str) -> Talk:
    """A talk that has reached `state` by the usual messages."""
    talk = Talk()
    if state in ("thinking", "speaking", "holding"):
        talk.speech()
    if state in ("speaking", "holding"):
        talk.answer(*MOON)
    if state == "holding":
        talk(Onset(2, 0, speaking=True), after_s=1.0)
    if state == "listening":
        talk(Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    if state == "muted":
        talk(Mute(on=True))
    if state == "failed":
        talk(CardLost("playback", "unplugged"))
    assert talk.state == state
    return talk


# onset 9 and the messages that may follow it
ONSET = Onset(9, 0, speaking=True)
YIELD = Verdict(9, "interruption", 300)
BEGUN = SpeechStarted(9, 9, 0)
ENDED = SpeechEnded(9, 0, 32_000, last=True)


def spoken(talk: Talk, *, ever: bool = False) -> list[str]:
    """The lines sent to the speaker by the last actions, or by all of them."""
    return [speak.text for speak in talk.sent(Speak, ever=ever)]
