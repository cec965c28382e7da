"""Cards that are plugged in or removed while one is open."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from appliance.audio.card_selection import CardMoved, CardSelection
from appliance.audio.cards import Direction, device
from appliance.settings import CardSettings, load, load_defaults
from tests.audio.shown_cards import ARRAY, JABRA, SCREEN, SPEAKER, WEBCAM, asound


def touched(folder: Path) -> None:
    """Change the modification time, as the kernel does with /dev/snd when cards change."""
    changed = folder.stat().st_mtime_ns + 1
    os.utime(folder, ns=(changed, changed))


def test_both_directions_move_to_a_better_card_that_is_plugged_in(tmp_path: Path) -> None:
    proc, dev = asound(tmp_path / "asound", WEBCAM, SPEAKER), tmp_path / "dev"
    dev.mkdir()
    card = load_defaults().card
    directions: tuple[Direction, ...] = ("capture", "playback")
    choices = [
        CardSelection(card, side, lambda card, side: device(card, side, proc), dev)
        for side in directions
    ]
    assert [choice.name() for choice in choices] == ["plughw:CARD=C920", "plughw:CARD=Speaker"]
    for choice in choices:
        choice.poll(1.0)  # nothing has changed
    shutil.rmtree(proc)
    touched(dev)  # the device files exist before the kernel lists the card
    for choice in choices:
        choice.poll(2.0)
    asound(proc, WEBCAM, SPEAKER, ARRAY)
    for choice in choices:
        with pytest.raises(CardMoved, match="plughw:CARD=Array is used from now on"):
            choice.poll(2.5)
        assert choice.name() == "plughw:CARD=Array"
        choice.poll(3.0)


def test_an_equally_good_card_causes_no_move(tmp_path: Path) -> None:
    proc, dev = asound(tmp_path / "asound", SCREEN, ARRAY), tmp_path / "dev"
    dev.mkdir()
    choice = CardSelection(
        load_defaults().card, "capture", lambda card, side: device(card, side, proc), dev
    )
    choice.name()
    shutil.rmtree(proc)
    asound(proc, SCREEN, ARRAY, JABRA, WEBCAM)
    touched(dev)
    choice.poll(1.0)
    shutil.rmtree(proc)  # no card is left: the stream itself raises the error
    touched(dev)
    choice.poll(2.0)


def test_a_card_named_in_the_settings_is_not_searched_for(tmp_path: Path) -> None:
    named = load(None, {"card": {"capture": "hw:CARD=Mine", "playback": "default"}}).card

    def find(card: CardSettings, direction: Direction) -> str:
        return device(card, direction, tmp_path / "nothing")

    names: dict[Direction, str] = {"capture": "hw:CARD=Mine", "playback": "default"}
    for side, name in names.items():
        choice = CardSelection(named, side, find, tmp_path)
        assert choice.name() == name
        touched(tmp_path)
        choice.poll(1.0)
