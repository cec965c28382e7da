"""Forwards sound levels, and words on request, to the page while a browser shows it.

In: the page's LiveView, and messages of parts. Out: LiveView to listener and words, levels and
words to the page, the requested light to the panel. trial_relay.py handles trials with sound.
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

NO_VIEW = LiveView(on=False)


class PageRelay:
    """Relays messages for the page. `send`: to a part that not every box has; it never waits."""

    def __init__(self, send: Callable[[str, Message], None]) -> None:
        self._send = send
        self._view = NO_VIEW
        self._trials = TrialRelay(send)

    def handle(self, peer: str, message: Message, dialog: DialogState) -> TrialEvents | None:
        """Forward a message that concerns the page. Returns the events that follow from it, or None
        if the message is for others as well."""
        if self._forward(peer, message):
            return ()
        return self._trials.handle(peer, message, dialog)

    def _forward(self, peer: str, message: Message) -> bool:
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
                self._change(NO_VIEW)
            case Sentence():
                self.show_words(message)
        return False

    def show_words(self, message: Sentence | AnswerHeard) -> None:
        """Send words to the page, while a viewer has requested them."""
        if self._view.on and self._view.words:
            self._send("page", message)

    def _change(self, view: LiveView) -> None:
        if view != self._view:
            self._view = view
            self._send("listener", view)
            self._send("words", view)
