"""Cards as the kernel lists them, from a made-up /proc/asound."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.audio.card_selection import CardMoved, CardSelection
from appliance.audio.cards import AUTO, BUY, Direction, chosen, device, holder, list_cards
from appliance.errors import CardError
from appliance.settings import CardSettings, load, load_defaults


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A Pi with an HDMI output and a USB speakerphone, which this very process has open."""
    (tmp_path / "cards").write_text(
        " 0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0\n"
        "                      vc4-hdmi-0\n"
        " 2 [Array          ]: USB-Audio - reSpeaker XVF3800 4-Mic Array\n"
        "                      Seeed Studio reSpeaker XVF3800 4-Mic Array at usb-1, high speed\n"
    )
    for number, name, streams in ((0, "vc4hdmi0", ("pcm0p",)), (2, "Array", ("pcm0p", "pcm0c"))):
        folder = tmp_path / f"card{number}"
        for stream in streams:
            (folder / stream / "sub0").mkdir(parents=True)
            (folder / stream / "sub0" / "status").write_text("closed\n")
        (folder / "id").write_text(name + "\n")
    (tmp_path / "card2/pcm0c/sub0/status").write_text(
        f"state: RUNNING\nowner_pid   : {os.getpid()}\ntrigger_time: 1.0\n"
    )
    return tmp_path


def test_cards_are_listed_with_a_name_that_does_not_move(proc: Path) -> None:
    hdmi, array = list_cards(proc)
    assert (hdmi.device, hdmi.capture, hdmi.playback) == ("plughw:CARD=vc4hdmi0", False, True)
    assert (array.device, array.capture, array.playback) == ("plughw:CARD=Array", True, True)
    assert array.name == "reSpeaker XVF3800 4-Mic Array"


def test_a_machine_without_sound_has_no_cards(tmp_path: Path) -> None:
    assert list_cards(tmp_path / "nothing") == []


@pytest.mark.parametrize(
    "device", ["hw:CARD=Array", "plughw:CARD=Array,DEV=0", "hw:2", "plughw:2,0", "sysdefault:Array"]
)
def test_who_holds_a_card_is_told_by_any_of_its_names(proc: Path, device: str) -> None:
    assert f"(process {os.getpid()})" in holder(device, "capture", proc)


@pytest.mark.parametrize("device", ["default", "hw:CARD=Other", "hw:0"])
def test_nobody_is_accused_of_a_card_that_is_free_or_unknown(proc: Path, device: str) -> None:
    assert holder(device, "capture", proc) == ""
    assert holder("hw:CARD=Array", "playback", proc) == ""


# ── which card `auto` is ─────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Shown:
    """A card as /proc/asound has it. `streams`: folder → its info."""

    id: str
    streams: tuple[tuple[str, str], ...]
    usb: bool = False


BOTH = (("pcm0p", "id: Audio"), ("pcm0c", "id: Audio"))
SCREEN = Shown("vc4hdmi0", (("pcm0p", "id: MAI PCM i2s-hifi-0"),))
SECOND_SCREEN = Shown("vc4hdmi1", (("pcm0p", "id: MAI PCM i2s-hifi-0"),))
HAT = Shown("Zero", BOTH)
ARRAY = Shown("Array", BOTH, usb=True)
JABRA = Shown("Jabra", BOTH, usb=True)
WEBCAM = Shown("C920", (("pcm0c", "id: USB Audio"),), usb=True)
SPEAKER = Shown("Speaker", (("pcm0p", "id: USB Audio"),), usb=True)
JACK = Shown("Headphones", (("pcm0p", "id: bcm2835 Headphones"),))
PC = Shown("PCH", (("pcm0p", "id: ALC257 Analog"), ("pcm0c", "id: ALC257 Analog"),
                   ("pcm3p", "id: HDMI 0")))  # fmt: skip
# An Intel board with the screens first, and its microphones at the end.
ODD = Shown("sofhdadsp", (("pcm3p", "id: HDMI1"), ("pcm5p", "id: Speaker"), ("pcm6c", "id: DMIC")))
HDA_SCREEN = Shown("NVidia", (("pcm3p", "id: HDMI 0"), ("pcm7p", "id: DisplayPort 1")))


def asound(folder: Path, *cards: Shown | None) -> Path:
    """`cards` in the order of their numbers; None: that number is free."""
    folder.mkdir()
    for number, card in enumerate(cards):
        if card is None:
            continue
        for stream, info in card.streams:
            (folder / f"card{number}" / stream).mkdir(parents=True)
            (folder / f"card{number}" / stream / "info").write_text(f"card: {number}\n{info}\n")
        (folder / f"card{number}/id").write_text(f"{card.id}\n")
        if card.usb:
            (folder / f"card{number}/usbid").write_text("2886:001a\n")
    return folder


@pytest.mark.parametrize(
    ("cards", "capture", "playback"),
    [
        ((ARRAY,), "plughw:CARD=Array", "plughw:CARD=Array"),
        ((SCREEN, SECOND_SCREEN, ARRAY), "plughw:CARD=Array", "plughw:CARD=Array"),
        ((HAT, ARRAY), "plughw:CARD=Array", "plughw:CARD=Array"),
        ((SCREEN, HAT), "plughw:CARD=Zero", "plughw:CARD=Zero"),
        ((PC,), "plughw:CARD=PCH", "plughw:CARD=PCH"),
        ((ODD,), "plughw:CARD=sofhdadsp,DEV=6", "plughw:CARD=sofhdadsp,DEV=5"),
        # Two that are as good: the kernel's first.
        ((None, JABRA, ARRAY), "plughw:CARD=Jabra", "plughw:CARD=Jabra"),
        # One device for both before two, whatever they are.
        ((WEBCAM, SPEAKER, HAT), "plughw:CARD=Zero", "plughw:CARD=Zero"),
        # Two devices where there is nothing better.
        ((JACK, WEBCAM, SPEAKER), "plughw:CARD=C920", "plughw:CARD=Speaker"),
        ((SCREEN, JACK, WEBCAM), "plughw:CARD=C920", "plughw:CARD=Headphones"),
        # A screen is no loudspeaker.
        ((SCREEN, WEBCAM), "plughw:CARD=C920", ""),
        ((HDA_SCREEN, WEBCAM), "plughw:CARD=C920", ""),
        ((SCREEN, SECOND_SCREEN), "", ""),
        ((), "", ""),
    ],
)
def test_auto_takes_the_card_that_fits_best(
    tmp_path: Path, cards: tuple[Shown | None, ...], capture: str, playback: str
) -> None:
    listed = list_cards(asound(tmp_path / "asound", *cards))
    assert chosen(AUTO, AUTO, listed) == (capture, playback)


def test_the_half_that_is_named_draws_the_other_to_its_own_card(tmp_path: Path) -> None:
    listed = list_cards(asound(tmp_path / "asound", HAT, ARRAY))
    assert chosen("hw:CARD=Zero", AUTO, listed) == ("hw:CARD=Zero", "plughw:CARD=Zero")
    assert chosen(AUTO, "plughw:CARD=Zero,DEV=0", listed)[0] == "plughw:CARD=Zero"
    assert chosen("default", AUTO, listed) == ("default", "plughw:CARD=Array")
    assert chosen("default", "default", listed) == ("default", "default")


def test_no_card_is_a_sentence_that_says_what_to_buy(tmp_path: Path) -> None:
    auto = load_defaults().card
    assert (auto.capture, auto.playback) == (AUTO, AUTO)
    with pytest.raises(CardError) as caught:
        device(auto, "capture", asound(tmp_path / "none"))
    assert (caught.value.problem, caught.value.remedy) == ("There is no sound card.", BUY)
    mute = asound(tmp_path / "mute", SCREEN, WEBCAM)
    assert device(auto, "capture", mute) == "plughw:CARD=C920"
    with pytest.raises(CardError, match=r"loudspeaker other than a screen's: .*\(C920\)"):
        device(auto, "playback", mute)


# ── cards that come and go while one is open ─────────────────────────────────────────────────
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
