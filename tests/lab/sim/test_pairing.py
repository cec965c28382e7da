"""Pairing by the button on the whole box: it speaks the digits, and somebody presses."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path

import pytest

from appliance.messages.commands import Say
from appliance.page.visit import COOKIE
from appliance.panel.keyboard_socket import place
from tests.lab.sim.test_trials import PageOwner
from tests.page.test_page import Browser

pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("simcard_library"),
]


class PressingOwner(PageOwner):
    """Presses while the box speaks, then once it has spoken, for a browser of somebody else's."""

    def __init__(self, state: Path) -> None:
        super().__init__(lambda _: self.steps(), state=state, panel={"gpio": "keyboard"})
        self.other = Browser(self.browser.port)
        self.let_in: list[bool] = []
        self.shown: list[tuple[str, ...]] = []

    def steps(self) -> None:
        self.ask("/pair/button", "Listen to the end")
        self.until(lambda: self.state is not None and self.state.state == "speaking")
        self._wait(1.0)
        self.press()
        self.until(lambda: "did not come to its end" in self.pair_page())
        self.let_in.append(COOKIE in self.other.cookies)
        self.until(self.quiet)
        self.ask("/pair/button", "Listen to the end")
        self.until(lambda: "press its button now" in self.pair_page())
        self.shown = re.findall(r'<p class="code">(\d) (\d)</p>', self.pair_page())
        self._wait(1.0)
        self.press()
        self.until(lambda: self.pair_page() == "")
        self.let_in.append(COOKIE in self.other.cookies)

    def ask(self, place: str, shows: str) -> None:
        assert self.other.ask("POST", place)[0] == 303
        assert shows in self.pair_page()

    def pair_page(self) -> str:
        return self.other.ask("GET", "/pair")[1]

    def press(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as panel:
            panel.connect(str(place(self.supervisor._settings)))
            panel.send(b"press")
            time.sleep(0.1)
            panel.send(b"release")


def test_a_press_pairs_after_the_digits_were_spoken_and_not_while_they_are(tmp_path: Path) -> None:
    box = PressingOwner(tmp_path)
    box.play()
    assert box.let_in == [False, True]
    said = [say.text for _, say in box.recording.messages_of(Say) if say.number]
    assert len(said) == 2
    assert [tuple(re.findall(r"\d", said[1]))] == box.shown
