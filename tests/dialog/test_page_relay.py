"""What the page alone is shown: levels while somebody looks, words if they are asked for."""

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


def test_the_listener_is_told_to_measure_when_somebody_looks_and_to_stop_when_nobody_does() -> None:
    mail = Mail()
    assert mail("page", LiveView(on=True))
    assert mail.sent == [("listener", LiveView(on=True)), ("words", LiveView(on=True))]
    assert mail("page", LiveView(on=True))
    assert mail.sent == []
    assert mail("page", LiveView(on=False))
    assert mail.sent == [("listener", LiveView(on=False)), ("words", LiveView(on=False))]


def test_levels_reach_the_page_while_somebody_looks_and_nobody_else_ever() -> None:
    mail = Mail()
    assert mail("listener", LEVELS)
    assert mail.sent == []
    mail("page", LiveView(on=True))
    assert mail("listener", LEVELS)
    assert mail.sent == [("page", LEVELS)]
    assert mail("link", LEVELS)
    assert mail.sent == []


def test_words_reach_the_page_only_when_they_were_asked_for_there() -> None:
    mail = Mail()
    mail("page", LiveView(on=True))
    assert not mail("thinker", SENTENCE), "it is for others, too"
    mail.relay.show_words(HEARD)
    assert mail.sent == []
    mail("page", LiveView(on=True, words=True))
    assert not mail("thinker", SENTENCE)
    mail.relay.show_words(HEARD)
    assert mail.sent == [("page", SENTENCE), ("page", HEARD)]
    mail("page", LiveView(on=False, words=True))
    mail("thinker", SENTENCE)
    assert mail.sent == []


def test_nobody_but_the_page_says_that_somebody_looks() -> None:
    mail = Mail()
    assert mail("link", LiveView(on=True, words=True))
    assert mail.sent == []


def test_a_listener_that_comes_up_anew_is_told_and_a_page_that_went_down_looks_no_more() -> None:
    mail = Mail()
    mail("page", LiveView(on=True, words=True))
    assert not mail("supervisor", PartChanged("listener", "up"))
    assert mail.sent == [("listener", LiveView(on=True, words=True))]
    assert not mail("supervisor", PartChanged("page", "down", "it died"))
    assert mail.sent == [("listener", LiveView(on=False)), ("words", LiveView(on=False))]
    mail("supervisor", PartChanged("listener", "up"))
    assert mail.sent == []


def test_all_else_is_none_of_its_business() -> None:
    mail = Mail()
    assert not mail("page", Mute(on=True))
    assert mail.sent == []


def test_a_light_is_shown_for_the_page_and_for_nobody_else() -> None:
    mail = Mail()
    assert mail("page", ShowLight("muted"))
    assert mail.sent == [("panel", ShowLight("muted"))]
    assert mail("link", ShowLight("muted"))
    assert mail.sent == []
