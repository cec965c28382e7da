"""The keyboard panel's socket receives words in order and sends the light to the last sender."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import PanelError
from appliance.panel.keyboard_socket import HELLO, WORDS, KeyboardSocket, place
from appliance.settings import load

RED = (1.0, 0.0, 0.0)


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[KeyboardSocket]:
    made = KeyboardSocket(tmp_path / "state/panel")
    yield made
    made.close()


def finger(folder: Path, name: str = "finger") -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    made.bind(str(folder / name))
    made.connect(str(folder / "state/panel"))
    return made


def test_words_arrive_in_the_order_sent(wire: KeyboardSocket, tmp_path: Path) -> None:
    with finger(tmp_path) as hand:
        for word in (HELLO, *WORDS):
            hand.send(word.encode())
        assert wire.pop_words() == [HELLO, *WORDS]
        assert wire.pop_words() == []


@given(data=st.binary(min_size=1, max_size=200))
def test_unknown_words_are_dropped(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("panel")
    panel = KeyboardSocket(folder / "state/panel")
    with finger(folder) as hand:
        hand.send(data)
        hand.send(b"press")
        found = panel.pop_words()
    panel.close()
    assert found in (["press"], [data.decode("ascii", "replace"), "press"])
    assert set(found) <= {HELLO, *WORDS}


def test_the_light_is_sent_in_percent_to_the_last_sender_of_a_word(
    wire: KeyboardSocket, tmp_path: Path
) -> None:
    with finger(tmp_path) as first, finger(tmp_path, "second") as second:
        first.send(b"hello")
        second.send(b"nonsense")
        wire.pop_words()
        wire.show("muted", (1.0, 0.126, 0.0))
        assert first.recv(64) == b"muted 100 13 0"
        with pytest.raises(BlockingIOError):
            second.recv(64)
        second.send(b"hello")
        wire.pop_words()
        wire.show("idle", RED)
        assert second.recv(64) == b"idle 100 0 0"


def test_a_closed_terminal_causes_no_error(wire: KeyboardSocket, tmp_path: Path) -> None:
    wire.show("idle", RED)  # no word has been received yet
    with finger(tmp_path) as hand:
        hand.send(b"hello")
        wire.pop_words()
    for _ in range(2):
        wire.show("idle", RED)


def test_only_the_boxs_user_can_access_the_socket(wire: KeyboardSocket, tmp_path: Path) -> None:
    assert (tmp_path / "state/panel").stat().st_mode & 0o777 == 0o600


def test_the_socket_of_a_killed_panel_is_replaced(tmp_path: Path) -> None:
    killed = KeyboardSocket(tmp_path / "state/panel")
    following = KeyboardSocket(tmp_path / "state/panel")
    with finger(tmp_path) as hand:
        hand.send(b"press")
    assert following.pop_words() == ["press"]
    following.close()
    assert not (tmp_path / "state/panel").exists()
    killed.close()


def test_a_socket_that_cannot_be_created_raises_an_error(tmp_path: Path) -> None:
    (tmp_path / "panel").mkdir()
    with pytest.raises(PanelError, match="the keyboard panel's socket cannot be opened"):
        KeyboardSocket(tmp_path / "panel")


def test_the_socket_is_in_the_panels_folder(tmp_path: Path) -> None:
    assert place(load(None, {"state_dir": str(tmp_path)})) == tmp_path / "panel/keyboard"
