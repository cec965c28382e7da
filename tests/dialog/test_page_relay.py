"""The messages for the page only: levels during a live view, words on request."""

from __future__ import annotations

from typing import Any

from appliance.dialog.page_relay import PageRelay
from appliance.dialog.state import DialogState
from appliance.messages.commands import Mute
from appliance.messages.registry import Message
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import AnswerHeard, Sentence
from appliance.messages.trying import ShowLight
from appliance.messages.viewing import LiveView, SoundLevels

LEVELS = SoundLevels(0, (-40,) * 5, (-96,) * 5)
SENTENCE, HEARD = Sentence(1, 0, "Hello."), AnswerHeard(1, "Hello.", complete=True)


class Mail:
    def __init__(self) -> None:
        self.sent: list[tuple[str, Message]] = []
        self.relay = PageRelay(lambda part, message: self.sent.append((part, message)))

    def __call__(self, peer: str, message: Any) -> bool:
        self.sent.clear()
        return self.relay.handle(peer, message, DialogState()) is not None


def test_opening_and_closing_the_live_view_starts_and_stops_the_listeners_measurement() -> None:
    mail = Mail()
    assert mail("page", LiveView(on=True))
    assert mail.sent == [("listener", LiveView(on=True)), ("words", LiveView(on=True))]
    assert mail("page", LiveView(on=True))
    assert mail.sent == []
    assert mail("page", LiveView(on=False))
    assert mail.sent == [("listener", LiveView(on=False)), ("words", LiveView(on=False))]


def test_levels_reach_only_the_page_and_only_during_a_live_view() -> None:
    mail = Mail()
    assert mail("listener", LEVELS)
    assert mail.sent == []
    mail("page", LiveView(on=True))
    assert mail("listener", LEVELS)
    assert mail.sent == [("page", LEVELS)]
    assert mail("link", LEVELS)
    assert mail.sent == []


def test_words_reach_the_page_only_when_the_live_view_asked_for_them() -> None:
    mail = Mail()
    mail("page", LiveView(on=True))
    assert not mail("thinker", SENTENCE), "the message goes to other receivers, too"
    mail.relay.show_words(HEARD)
    assert mail.sent == []
    mail("page", LiveView(on=True, words=True))
    assert not mail("thinker", SENTENCE)
    mail.relay.show_words(HEARD)
    assert mail.sent == [("page", SENTENCE), ("page", HEARD)]
    mail("page", LiveView(on=False, words=True))
    mail("thinker", SENTENCE)
    assert mail.sent == []


def test_only_the_page_can_open_a_live_view() -> None:
    mail = Mail()
    assert mail("link", LiveView(on=True, words=True))
    assert mail.sent == []


def test_a_restarted_listener_receives_the_live_view_and_a_page_crash_ends_it() -> None:
    mail = Mail()
    mail("page", LiveView(on=True, words=True))
    assert not mail("supervisor", PartChanged("listener", "up"))
    assert mail.sent == [("listener", LiveView(on=True, words=True))]
    assert not mail("supervisor", PartChanged("page", "down", "it died"))
    assert mail.sent == [("listener", LiveView(on=False)), ("words", LiveView(on=False))]
    mail("supervisor", PartChanged("listener", "up"))
    assert mail.sent == []


def test_the_relay_ignores_other_messages() -> None:
    mail = Mail()
    assert not mail("page", Mute(on=True))
    assert mail.sent == []


def test_only_the_page_can_have_a_light_shown() -> None:
    mail = Mail()
    assert mail("page", ShowLight("muted"))
    assert mail.sent == [("panel", ShowLight("muted"))]
    assert mail("link", ShowLight("muted"))
    assert mail.sent == []
