"""A conductor in a real process; the tests play every other part of the box."""

from __future__ import annotations

from pathlib import Path

from appliance.messages.commands import StateChanged
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted
from appliance.messages.playback import PlaybackStarted
from appliance.messages.speech import EndAnswer, Speak, Spoken
from appliance.messages.thinking import (
    Recall,
    RecallWanted,
    Sentence,
    Think,
    ThinkerReady,
    ThoughtEnded,
)
from appliance.settings import Settings, load
from tests.supervised import PlayedParts, kill_and_wait

PARTS = ("capture", "playback", "listener", "thinker", "speaker", "link")


class Box(PlayedParts):
    """A conductor under a real supervisor; the test plays every other part."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, ("conductor",), PARTS)

    def state(self, name: str) -> StateChanged:
        """Wait until the conductor reports this state."""
        while True:
            changed = self.get("room", StateChanged)
            if changed.state == name:
                return changed

    def kill(self) -> None:
        kill_and_wait(self.pid("conductor"))

    def load_model(self) -> None:
        """Report a ready thinker; the memory has no turns to recall."""
        self.say("thinker", ThinkerReady("pocket"), RecallWanted())  # the reply is after both
        assert self.get("thinker", Recall).turns == ()

    def question(self, utterance: int = 1) -> int:
        """Send the messages of a spoken question until the box thinks. Returns the turn."""
        self.floor.hold = utterance
        self.say("listener", Onset(utterance, 0, speaking=False))
        self.say("listener", SpeechStarted(utterance, utterance, 0))
        self.say("listener", SpeechEnded(utterance, 0, 16_000, last=True))
        return self.get("thinker", Think).turn

    def answer(self, *sentences: str) -> int:
        """Answer the question with these sentences and start their playback. Returns the turn."""
        turn = self.floor.turn
        for number, text in enumerate(sentences):
            self.say("thinker", Sentence(turn, number, text))
            assert self.get("speaker", Speak) == Speak(turn, number, text)
            self.say("speaker", Spoken(turn, number, 16_000 * number, 16_000, 5.0))
        self.say("thinker", ThoughtEnded(turn, len(sentences), "complete"))
        assert self.get("speaker", EndAnswer) == EndAnswer(turn)
        self.say("playback", PlaybackStarted(turn, 0))
        self.state("speaking")
        return turn


def settings_in(folder: Path, recall_turns: int = 12) -> Settings:
    empty = folder / "settings.yaml"
    empty.write_text(f"memory: {{recall_turns: {recall_turns}}}")
    return load(empty, {"state_dir": str(folder)})
