"""`interlude panel`: keys become timed button words, and frames a coloured line."""

from __future__ import annotations

import os
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.cli.panel import KEYS, PAIRS, TAP_S, cli_panel, drawn
from appliance.errors import PanelError
from appliance.panel.button import DEBOUNCE_S, DOUBLE_S, Button
from appliance.panel.keyboard_socket import HELLO, WORDS, KeyboardSocket, place
from appliance.settings import Settings, load

LIMIT_S = 20.0


def settings(folder: Path, gpio: str = "keyboard") -> Settings:
    return load(None, {"state_dir": str(folder), "panel": {"gpio": gpio}})


def gestures(key: str) -> list[str]:
    """The gestures that a button detects in the words of a key."""
    button, now, found = Button(), 10.0, []
    button.edge(False, 0.0)
    for after_s, word in KEYS[key]:
        while after_s > 0:  # like the panel, poll between two edges
            step = min(after_s, DEBOUNCE_S)
            now, after_s = now + step, after_s - step
            found += button.tick(now)
        found += button.edge(WORDS[word][1], now)
    return [*found, *button.tick(now + DOUBLE_S + TAP_S)]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (" ", ["press", "release", "short"]),
        ("2", ["press", "release", "press", "release", "double"]),
        ("l", ["press", "long", "release"]),
    ],
)
def test_a_key_produces_its_gesture(key: str, expected: list[str]) -> None:
    assert sorted(gestures(key)) == sorted(expected)


def test_the_panel_knows_every_word_of_every_key() -> None:
    sent = {word for words in KEYS.values() for _, word in words}
    assert sent | {word for pair in PAIRS.values() for word in pair} == set(WORDS)


@pytest.mark.parametrize(
    ("frame", "colour"), [("muted 100 0 0", "255;0;0"), ("idle 0 50 20", "0;128;51")]
)
def test_a_frame_is_shown_as_a_dot_of_its_colour_with_its_name(frame: str, colour: str) -> None:
    line = drawn(frame)
    assert f"38;2;{colour}m" in line
    assert frame.split(maxsplit=1)[0] in line
    assert "\n" not in line


def test_the_keyboard_panel_requires_its_setting_and_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PanelError, match="no keyboard panel") as refused:
        cli_panel(settings(tmp_path, "none"))
    assert "panel.gpio: keyboard" in refused.value.remedy
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(PanelError, match="needs a terminal"):
            cli_panel(settings(tmp_path))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The far end of a terminal whose near end is the stdin of this process."""
    far, near = os.openpty()
    with os.fdopen(near, closefd=True) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield far
    os.close(far)


def test_without_a_running_box_the_remedy_is_printed(tmp_path: Path, terminal: int) -> None:
    with pytest.raises(PanelError, match="No box") as refused:
        cli_panel(settings(tmp_path))
    assert "interlude run" in refused.value.remedy


def test_keys_reach_the_panel_its_light_is_shown_and_the_terminal_is_restored(
    tmp_path: Path, terminal: int, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = settings(tmp_path)
    before = termios.tcgetattr(sys.stdin)
    panel, received = KeyboardSocket(place(chosen)), list[str]()
    ended: list[Any] = []
    typist = threading.Thread(target=lambda: ended.append(cli_panel(chosen)))
    typist.start()

    def until(count: int) -> None:
        end_s = time.monotonic() + LIMIT_S
        while len(received) < count and time.monotonic() < end_s:
            received.extend(panel.pop_words())
            time.sleep(0.002)

    until(1)
    panel.show("listening", (0.0, 1.0, 0.0))
    os.write(terminal, b"m x")
    until(4)
    os.write(terminal, b"mq")
    typist.join(LIMIT_S)
    received += panel.pop_words()
    panel.close()
    first, last = PAIRS["m"]
    assert received == [HELLO, first, "press", "release", last]
    assert ended == [0]
    assert termios.tcgetattr(sys.stdin) == before
    assert "listening" in capsys.readouterr().out
