"""Cards as the kernel lists them, from a made-up /proc/asound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.audio.cards import holder, list_cards


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
