"""Commands to the running box: the messages that they become, and their errors."""

from __future__ import annotations

import select
import threading
from pathlib import Path

import pytest

from appliance.cli import tell
from appliance.dialog.control_socket import ControlSocket, socket_paths
from appliance.errors import ControlError, NotRunning
from appliance.messages.commands import (
    Ask,
    CommandRefused,
    Forget,
    Forgotten,
    Mute,
    Say,
    SetMode,
    SetVoice,
    SetVolume,
    StateChanged,
    StopSpeaking,
)
from appliance.messages.limits import MAX_WORDS
from appliance.messages.registry import Message
from appliance.settings import Settings
from tests.dialog.conductor_box import settings_in

Answer = StateChanged | Forgotten | CommandRefused


class Answering(threading.Thread):
    """The control socket of a box that gives every command the same answer and records the
    commands."""

    def __init__(
        self, settings: Settings, answer: StateChanged | Forgotten | CommandRefused
    ) -> None:
        super().__init__()
        self.received: list[Message] = []
        self._answer = answer
        self._ends = False
        self._control = ControlSocket(socket_paths(settings)[0])
        self.start()

    def run(self) -> None:
        while not self._ends:
            select.select([self._control.fileno()], [], [], 0.01)
            for client, command in self._control.pop_commands():
                self.received.append(command)
                self._control.reply(client, self._answer)

    def __enter__(self) -> Answering:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends = True
        self.join()
        self._control.close()


@pytest.mark.parametrize(
    ("verb", "words", "message"),
    [
        ("say", ["two", "words"], Say("two words")), ("ask", ["why?"], Ask("why?")),
        ("mute", [], Mute(on=True)), ("stop", [], StopSpeaking()),
        ("mute", ["off"], Mute(on=False)),
        ("volume", ["43"], SetVolume(0.43)), ("volume", ["100%"], SetVolume(1.0)),
        ("voice", ["amy"], SetVoice("amy")), ("mode", ["push-to-talk"], SetMode("push_to_talk")),
        ("mode", ["wake", "word"], SetMode("wake_word")),
    ],
)  # fmt: skip
def test_a_command_reaches_the_box_and_its_state_is_printed(
    verb: str,
    words: list[str],
    message: Message,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = settings_in(tmp_path)
    with Answering(settings, StateChanged("muted", 1, 0)) as box:
        assert tell.cli(settings, verb, words) == 0
    assert box.received == [message]
    assert capsys.readouterr().out == "The box is muted.\n"


def test_a_refusal_is_reported_in_the_words_of_the_box(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with (
        Answering(settings, CommandRefused("There is no button.")),
        pytest.raises(ControlError, match=r"refuses that\. There is no button"),
    ):
        tell.cli(settings, "mode", ["push_to_talk"])


def test_an_unexpected_reply_is_an_error(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with Answering(settings, Forgotten()) as box:
        with pytest.raises(ControlError, match="does not understand its reply"):
            tell.send_command(settings, StopSpeaking())
        assert tell.forget_conversation(settings) == Forgotten()
    assert box.received == [StopSpeaking(), Forget()]


@pytest.mark.parametrize(
    ("verb", "words"),
    [("mute", "perhaps"), ("volume", "loud"), ("volume", "101"), ("volume", "-1"),
     ("mode", "shut"), ("say", " "), ("ask", ""), ("voice", "x" * 200)],
)  # fmt: skip
def test_invalid_arguments_are_refused(verb: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(tell.BadArguments) as refused:
        tell.cli(settings_in(tmp_path), verb, [words])
    assert refused.value.exit_code == 64


def test_without_a_running_box_the_remedy_is_printed(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match="interlude run"):
        tell.cli(settings_in(tmp_path), "stop", [])


def test_a_text_that_is_too_long_or_not_utf_8_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    for words, why in (("x" * (MAX_WORDS + 1), "too long: 1001"), ("caf\udce9", "not UTF-8")):
        with pytest.raises(tell.BadArguments, match=why):
            tell.cli(settings_in(tmp_path), "ask", [words])
