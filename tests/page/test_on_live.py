"""The live view's commands: each sends one message, and an unknown one does nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from appliance.messages.commands import (
    BoxStatus,
    Forget,
    Mute,
    Restart,
    SetMode,
    SetVoice,
    SetVolume,
    StopSpeaking,
)
from appliance.messages.message import BaseMessage
from appliance.messages.tools import ShownTimer, TimersList
from tests.page.desk import Desk


def do(desk: Desk, **form: str) -> int:
    return desk.post("/do", {**form, "token": desk.token}).status


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"do": "volume", "volume": "35"}, SetVolume(0.35)),
        ({"do": "mode", "mode": "wake_word"}, SetMode("wake_word")),
        ({"do": "voice", "voice": "amy"}, SetVoice("amy")),
        ({"do": "mute"}, Mute(on=True)),
        ({"do": "unmute"}, Mute(on=False)),
        ({"do": "stop"}, StopSpeaking()),
        ({"do": "restart"}, Restart()),
        ({"do": "forget"}, Forget(aloud=True)),
        ({"do": "forget-last"}, Forget(last=True, aloud=True)),
    ],
)
def test_a_command_is_one_message(desk: Desk, form: dict[str, str], message: BaseMessage) -> None:
    desk.pair()
    assert do(desk, **form) == 303
    assert desk.sent == [message]


@pytest.mark.parametrize(
    "form",
    [
        {}, {"do": ""}, {"do": "erase"}, {"do": "volume"}, {"do": "volume", "volume": "nan"},
        {"do": "volume", "volume": "101"}, {"do": "volume", "volume": "-1"},
        {"do": "mode", "mode": "loud"},
        {"do": "voice", "voice": "nobody"}, {"do": "voice", "voice": ""},
    ],
)  # fmt: skip
def test_an_unknown_command_does_nothing(desk: Desk, form: dict[str, str]) -> None:
    desk.pair()
    assert do(desk, **form) == 400
    assert desk.sent == []


@pytest.mark.parametrize(("language", "says"), [("en", "has no button"), ("de", "keinen Knopf")])
@pytest.mark.parametrize("accept", ["", "text/html"])
def test_a_box_without_a_button_refuses_push_to_talk_with_the_reason(
    desk: Desk, language: str, says: str, accept: str
) -> None:
    desk.pair()
    form = {"do": "mode", "mode": "push_to_talk", "token": desk.token}
    reply = desk.post("/do", form, accept=accept, accept_language=language)
    assert (reply.status, desk.sent) == (409, [])
    assert says in reply.body.decode()


@pytest.mark.parametrize("back", ["/", "/set"])
@pytest.mark.parametrize(
    ("form", "english", "german"),
    [
        ({"do": "volume", "volume": "35"}, "Volume set to 35 %.", "Lautstärke 35 %: eingestellt."),
        (
            {"do": "mode", "mode": "wake_word"},
            "It now listens after the wake word.",
            "Es hört nach dem Weckwort zu: eingestellt.",
        ),
        ({"do": "voice", "voice": "amy"}, "Voice set to amy.", "Stimme amy: eingestellt."),
    ],
)
def test_without_a_script_the_next_page_confirms_the_change(
    desk: Desk, form: dict[str, str], english: str, german: str, back: str
) -> None:
    desk.pair()
    reply = desk.post("/do", form | {"back": back, "token": desk.token})
    place = dict(reply.headers)["Location"]
    assert place.startswith(f"{back}?said=")
    for language, says in (("en", english), ("de", german)):
        page = desk.get(place, accept_language=language).body.decode()
        assert f'role="status">{says}</p>' in page
        assert says not in desk.get(back, accept_language=language).body.decode()


def test_the_script_has_the_same_confirmations(desk: Desk) -> None:
    desk.pair()
    assert '"volume": "Volume set to {percent} %."' in desk.text("/")
    assert '"refused": "That did not work. {why}"' in desk.text("/")


def test_set_and_ringing_timers_are_counted_without_names_while_they_last(desk: Desk) -> None:
    desk.pair()
    line = re.compile(r'<p id="timers"( hidden)?><span>(.*?)</span> <a href="/own/timers">')

    def shown() -> tuple[str | None, ...]:
        found = line.search(desk.text("/"))
        assert found
        return found.groups()

    assert shown() == (" hidden", "")
    desk.box.model.handle(TimersList((ShownTimer(1, False, "tea", 1.8e9, 60.0),)), 0.0)
    hidden, says = shown()
    assert hidden is None
    assert says is not None
    assert says.startswith("A timer or an alarm is set, due at 2027-01-15")
    assert "tea" not in desk.text("/")
    desk.box.model.handle(TimersList(), 0.0)
    assert shown() == (" hidden", "")


def test_the_page_can_mute_and_not_unmute_when_the_settings_forbid_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, page={"unmute": False})
    desk.pair()
    assert do(desk, do="mute") == 303
    assert do(desk, do="unmute") == 400
    assert desk.sent == [Mute(on=True)]
    desk.box.model.handle(BoxStatus("open", True, 0.8), 0.0)
    assert 'value="unmute"' not in desk.text("/")
    assert "switched on again only at the box" in desk.text("/")


def test_a_muted_box_offers_to_unmute(desk: Desk) -> None:
    desk.pair()
    assert 'value="unmute"' not in desk.text("/")
    desk.box.model.handle(BoxStatus("open", True, 0.8), 0.0)
    assert 'value="unmute"' in desk.text("/")
    assert 'value="mute"' not in desk.text("/")


def test_a_conductor_that_accepts_no_messages_is_an_error(desk: Desk) -> None:
    desk.pair()
    desk.accepts_messages = False
    assert do(desk, do="stop") == 503


def test_a_form_redirects_to_its_own_page_and_never_to_another_site(desk: Desk) -> None:
    desk.pair()
    token = desk.token
    for back, place in (("/own", "/own"), ("http://evil.example", "/"), ("//e", "/")):
        reply = desk.post("/do", {"do": "stop", "back": back, "token": token})
        assert ("Location", place) in reply.headers


def test_the_script_has_every_text_that_it_shows(desk: Desk) -> None:
    desk.pair()
    page = desk.text("/")
    found = re.search(r'id="texts">(.*?)</script>', page, re.DOTALL)
    assert found
    texts = json.loads(found[1])
    script = (Path(__file__).parents[2] / "appliance/page/static/live.js").read_text()
    for key in re.findall(r'say\("(\w+)"', script):
        assert key in texts["ev"], key
    for key in set(re.findall(r"texts\.(\w+)", script)) - {"ev"}:
        assert key in texts, key


@pytest.mark.parametrize("path", ["/", "/set"])
def test_the_volume_shows_the_newly_set_value_in_percent(desk: Desk, path: str) -> None:
    desk.pair()
    assert "80 %</span>" in desk.text(path)
    assert do(desk, do="volume", volume="45", back=path) == 303
    page = desk.text(path)
    assert 'step="5" value="45"' in page
    assert "45 %</span>" in page
    assert '<script src="/static/volume.js" defer>' in page
    desk.accepts_messages = False
    assert do(desk, do="volume", volume="20", back=path) == 503
    assert "45 %</span>" in desk.text(path)


def test_the_response_times_are_labelled_and_below_the_volume(desk: Desk) -> None:
    desk.pair()
    page = desk.text("/")
    says = (
        "How fast it falls silent when you speak",
        "half of the times within",
        "19 of 20 within",
    )
    assert [words for words in says if page.find(words) < page.index('id="volume"')] == []
