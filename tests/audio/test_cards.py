"""Cards as the kernel lists them, from a simulated /proc/asound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.audio.cards import AUTO, BUY, chosen, device, holder, list_cards
from appliance.errors import CardError
from appliance.settings import load_defaults
from tests.audio.shown_cards import (
    ARRAY,
    HAT,
    HDA_SCREEN,
    JABRA,
    JACK,
    ODD,
    PC,
    SCREEN,
    SECOND_SCREEN,
    SPEAKER,
    WEBCAM,
    Shown,
    asound,
)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A Pi with an HDMI output and a USB speakerphone that this test's process has open."""
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


def test_cards_are_listed_with_a_stable_device_name(proc: Path) -> None:
    hdmi, array = list_cards(proc)
    assert (hdmi.device, hdmi.capture, hdmi.playback) == ("plughw:CARD=vc4hdmi0", False, True)
    assert (array.device, array.capture, array.playback) == ("plughw:CARD=Array", True, True)
    assert array.name == "reSpeaker XVF3800 4-Mic Array"


def test_a_machine_without_sound_cards_has_an_empty_list(tmp_path: Path) -> None:
    assert list_cards(tmp_path / "nothing") == []


@pytest.mark.parametrize(
    "device", ["hw:CARD=Array", "plughw:CARD=Array,DEV=0", "hw:2", "plughw:2,0", "sysdefault:Array"]
)
def test_the_process_that_holds_a_card_is_found_by_any_device_name(proc: Path, device: str) -> None:
    assert f"(process {os.getpid()})" in holder(device, "capture", proc)


@pytest.mark.parametrize("device", ["default", "hw:CARD=Other", "hw:0"])
def test_a_free_or_unknown_card_has_no_holder(proc: Path, device: str) -> None:
    assert holder(device, "capture", proc) == ""
    assert holder("hw:CARD=Array", "playback", proc) == ""


@pytest.mark.parametrize(
    ("cards", "capture", "playback"),
    [
        ((ARRAY,), "plughw:CARD=Array", "plughw:CARD=Array"),
        ((SCREEN, SECOND_SCREEN, ARRAY), "plughw:CARD=Array", "plughw:CARD=Array"),
        ((HAT, ARRAY), "plughw:CARD=Array", "plughw:CARD=Array"),
        ((SCREEN, HAT), "plughw:CARD=Zero", "plughw:CARD=Zero"),
        ((PC,), "plughw:CARD=PCH", "plughw:CARD=PCH"),
        ((ODD,), "plughw:CARD=sofhdadsp,DEV=6", "plughw:CARD=sofhdadsp,DEV=5"),
        # Two equally good cards: the kernel's first.
        ((None, JABRA, ARRAY), "plughw:CARD=Jabra", "plughw:CARD=Jabra"),
        # One device for both directions takes precedence over two.
        ((WEBCAM, SPEAKER, HAT), "plughw:CARD=Zero", "plughw:CARD=Zero"),
        # Two devices if no single one does both.
        ((JACK, WEBCAM, SPEAKER), "plughw:CARD=C920", "plughw:CARD=Speaker"),
        ((SCREEN, JACK, WEBCAM), "plughw:CARD=C920", "plughw:CARD=Headphones"),
        # A screen does not count as a loudspeaker.
        ((SCREEN, WEBCAM), "plughw:CARD=C920", ""),
        ((HDA_SCREEN, WEBCAM), "plughw:CARD=C920", ""),
        ((SCREEN, SECOND_SCREEN), "", ""),
        ((), "", ""),
    ],
)
def test_auto_chooses_the_best_card(
    tmp_path: Path, cards: tuple[Shown | None, ...], capture: str, playback: str
) -> None:
    listed = list_cards(asound(tmp_path / "asound", *cards))
    assert chosen(AUTO, AUTO, listed) == (capture, playback)


def test_auto_prefers_the_card_named_for_the_other_direction(tmp_path: Path) -> None:
    listed = list_cards(asound(tmp_path / "asound", HAT, ARRAY))
    assert chosen("hw:CARD=Zero", AUTO, listed) == ("hw:CARD=Zero", "plughw:CARD=Zero")
    assert chosen(AUTO, "plughw:CARD=Zero,DEV=0", listed)[0] == "plughw:CARD=Zero"
    assert chosen("default", AUTO, listed) == ("default", "plughw:CARD=Array")
    assert chosen("default", "default", listed) == ("default", "default")


def test_without_a_card_the_error_says_what_to_buy(tmp_path: Path) -> None:
    auto = load_defaults().card
    assert (auto.capture, auto.playback) == (AUTO, AUTO)
    with pytest.raises(CardError) as caught:
        device(auto, "capture", asound(tmp_path / "none"))
    assert (caught.value.problem, caught.value.remedy) == ("There is no sound card.", BUY)
    mute = asound(tmp_path / "mute", SCREEN, WEBCAM)
    assert device(auto, "capture", mute) == "plughw:CARD=C920"
    with pytest.raises(CardError, match=r"loudspeaker other than a screen's: .*\(C920\)"):
        device(auto, "playback", mute)
