"""Cards that come and go while one is open."""

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
    """As the kernel does with /dev/snd when a card comes or goes."""
    changed = folder.stat().st_mtime_ns + 1
    os.utime(folder, ns=(changed, changed))


def test_a_better_card_that_is_plugged_in_is_moved_to_by_both_directions(tmp_path: Path) -> None:
    proc, dev = asound(tmp_path / "asound", WEBCAM, SPEAKER), tmp_path / "dev"
    dev.mkdir()
    card = load_defaults().card
    ways: tuple[Direction, ...] = ("capture", "playback")
    choices = [
        CardSelection(card, way, lambda card, way: device(card, way, proc), dev) for way in ways
    ]
    assert [each.name() for each in choices] == ["plughw:CARD=C920", "plughw:CARD=Speaker"]
    for each in choices:
        each.poll(1.0)  # nothing has changed
    shutil.rmtree(proc)
    touched(dev)  # the files are there before the kernel lists the card
    for each in choices:
        each.poll(2.0)
    asound(proc, WEBCAM, SPEAKER, ARRAY)
    for each in choices:
        with pytest.raises(CardMoved, match="plughw:CARD=Array is used from now on"):
            each.poll(2.5)
        assert each.name() == "plughw:CARD=Array"
        each.poll(3.0)


def test_what_comes_beside_a_card_that_fits_as_well_moves_nothing(tmp_path: Path) -> None:
    proc, dev = asound(tmp_path / "asound", SCREEN, ARRAY), tmp_path / "dev"
    dev.mkdir()
    choice = CardSelection(
        load_defaults().card, "capture", lambda card, way: device(card, way, proc), dev
    )
    choice.name()
    shutil.rmtree(proc)
    asound(proc, SCREEN, ARRAY, JABRA, WEBCAM)
    touched(dev)
    choice.poll(1.0)
    shutil.rmtree(proc)  # all are gone: the stream itself says so, with its reason
    touched(dev)
    choice.poll(2.0)


def test_a_card_that_the_owner_names_is_not_looked_for(tmp_path: Path) -> None:
    named = load(None, {"card": {"capture": "hw:CARD=Mine", "playback": "default"}}).card

    def find(card: CardSettings, direction: Direction) -> str:
        return device(card, direction, tmp_path / "nothing")

    names: dict[Direction, str] = {"capture": "hw:CARD=Mine", "playback": "default"}
    for way, name in names.items():
        choice = CardSelection(named, way, find, tmp_path)
        assert choice.name() == name
        touched(tmp_path)
        choice.poll(1.0)
