"""What the page is shown while somebody looks at it: sound levels, and words if they are wanted.

In: the page's LiveView, and what parts say. Out: LiveView to the listener, levels and words to the
page, to the panel which light to show. What is tried with sound is trial_relay.py's.
"""

from __future__ import annotations

from collections.abc import Callable

from appliance.dialog.state import DialogState
from appliance.dialog.trial_relay import TrialEvents, TrialRelay
from appliance.messages.hearing import WakeScore
from appliance.messages.registry import Message
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import AnswerHeard, Sentence
from appliance.messages.trying import ShowLight
from appliance.messages.viewing import LiveView, SoundLevels

NOBODY = LiveView(on=False)


class PageRelay:
    """`send`: to a part that not every box has; never waits."""

    def __init__(self, send: Callable[[str, Message], None]) -> None:
        self._send = send
        self._view = NOBODY
        self._trials = TrialRelay(send)

    def handle(self, peer: str, message: Message, now: DialogState) -> TrialEvents | None:
        """Pass on what is for the page. None for what is for others, too; else what follows."""
        if self._pass_on(peer, message):
            return ()
        return self._trials.handle(peer, message, now)

    def _pass_on(self, peer: str, message: Message) -> bool:
        match message:
            case SoundLevels() | WakeScore():
                if peer in ("listener", "words") and self._view.on:
                    self._send("page", message)
                return True
            case LiveView():
                if peer == "page":
                    self._change(message)
                return True
            case ShowLight():
                if peer == "page":
                    self._send("panel", message)
                return True
            case PartChanged("listener" | "words", "up") if self._view.on:
                self._send(message.part, self._view)
            case PartChanged("page", "down" | "failed"):
                self._change(NOBODY)
            case Sentence():
                self.show_words(message)
        return False

    def show_words(self, message: Sentence | AnswerHeard) -> None:
        """To the page, while somebody there has asked for words."""
        if self._view.on and self._view.words:
            self._send("page", message)

    def _change(self, view: LiveView) -> None:
        if view != self._view:
            self._view = view
            self._send("listener", view)
            self._send("words", view)
