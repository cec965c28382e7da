"""Lists the kernel's sound cards, without opening any, and chooses which to use.

In: /proc/asound, the settings. Out: cards, and the ALSA name for each direction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from appliance.errors import CardError
from appliance.settings import CardSettings

AUTO = "auto"  # value of `card.capture` and `card.playback`
BUY = "Plug in a USB device with microphone and loudspeaker in one; hw/audio.md names some."

Direction = Literal["capture", "playback"]

PROC_ASOUND = Path("/proc/asound")
_LETTER = {"capture": "c", "playback": "p"}  # last letter of the folders pcm0c, pcm0p
# Outputs of a screen: HDMI, DisplayPort. The kernel's drivers name the card (vc4-hdmi) or the
# device (HDMI 0) after them.
_SCREEN = re.compile(r"hdmi|displayport", re.IGNORECASE)
# The card in an ALSA name: hw:CARD=Array,DEV=0 or hw:Array,0.
_CARD = re.compile(r"^\w+:(?:.*\bCARD=)?([^,=]+)")


@dataclass(frozen=True)
class CardInfo:
    """One card. `device` is the name for the settings; unlike the number it does not change.

    usb    it is on USB, so the owner plugged it in to use it
    screen its only playback devices are those of a screen
    numbers of its first capture device, and of its first playback device
    """

    number: int
    id: str
    name: str
    capture: bool
    playback: bool
    usb: bool = False
    screen: bool = False
    numbers: tuple[int, int] = (0, 0)

    @property
    def device(self) -> str:
        return f"plughw:CARD={self.id}"

    def alsa_name(self, direction: Direction) -> str:
        """The ALSA name of one direction."""
        number = self.numbers[direction == "playback"]
        return f"{self.device},DEV={number}" if number else self.device


def list_cards(proc: Path = PROC_ASOUND) -> list[CardInfo]:
    """The machine's cards, in the kernel's order."""
    found = []
    folders = [path for path in proc.glob("card*") if path.name[4:].isdigit()]
    for folder in sorted(folders, key=lambda path: int(path.name[4:])):
        number, card_id = int(folder.name[4:]), _text(folder / "id").strip()
        found.append(
            CardInfo(
                number,
                card_id or str(number),
                _long_name(proc, number) or card_id,
                capture=any(folder.glob("pcm*c")),
                playback=any(folder.glob("pcm*p")),
                usb=(folder / "usbid").exists(),
                screen=_is_screen(folder, card_id),
                numbers=(_first_device(folder, "capture"), _first_device(folder, "playback")),
            )
        )
    return found


def chosen(capture: str, playback: str, cards: Sequence[CardInfo]) -> tuple[str, str]:
    """ALSA names of the microphone and of the loudspeaker: those of the settings, or for `auto` the
    best cards; "" where none fits.

    The result depends only on the cards, so that capture and playback choose the same. One card for
    both directions comes before two cards, whose clocks drift apart; USB comes before others; a
    screen's loudspeaker is never chosen: its delay is unknown and long. Then the lowest number.
    """
    mics = [card for card in cards if card.capture]
    speakers = [card for card in cards if card.playback and not card.screen]
    if capture != AUTO:
        speakers = _cards_named(capture, speakers) or speakers
    if playback != AUTO:
        mics = _cards_named(playback, mics) or mics
    if capture == playback == AUTO:
        both = [card for card in mics if card in speakers]
        mics, speakers = (both, both) if both else (mics, speakers)
    mic, speaker = _best(mics), _best(speakers)
    return (
        capture if capture != AUTO else mic.alsa_name("capture") if mic else "",
        playback if playback != AUTO else speaker.alsa_name("playback") if speaker else "",
    )


def device(card: CardSettings, direction: Direction, proc: Path = PROC_ASOUND) -> str:
    """The ALSA name to open. Raises CardError when `auto` finds no card."""
    if (card.capture if direction == "capture" else card.playback) != AUTO:
        return card.capture if direction == "capture" else card.playback
    cards = list_cards(proc)
    name = chosen(card.capture, card.playback, cards)[direction == "playback"]
    if name:
        return name
    listed = ", ".join(f"{card_info.name} ({card_info.id})" for card_info in cards)
    what = "microphone" if direction == "capture" else "loudspeaker other than a screen's"
    raise CardError(f"No sound card here has a {what}: {listed}." if listed else
                    "There is no sound card.", BUY)  # fmt: skip


def card_named(name: str) -> str:
    """The card's id or number in an ALSA name; the complete name if it contains none."""
    found = _CARD.search(name)
    return found[1] if found else name


def _best(cards: Sequence[CardInfo]) -> CardInfo | None:
    return min(cards, key=lambda card: (not card.usb, card.number), default=None)


def _cards_named(name: str, cards: Sequence[CardInfo]) -> list[CardInfo]:
    """The cards that the ALSA name `name` refers to."""
    named = card_named(name)
    return [card for card in cards if named in (card.id, str(card.number))]


def holder(device: str, direction: Direction, proc: Path = PROC_ASOUND) -> str:
    """The process that has this card open, as `name (process 123)`; "" when it is not known."""
    folder = _card_folder(device, proc)
    if folder is None:
        return ""
    for status in sorted(folder.glob(f"pcm*{_LETTER[direction]}/sub*/status")):
        owner = re.search(r"owner_pid\s*:\s*(\d+)", _text(status))
        if owner:
            name = _text(Path(f"/proc/{owner[1]}/comm")).strip()
            return f"{name or 'a program'} (process {owner[1]})"
    return ""


def _is_screen(folder: Path, card_id: str) -> bool:
    """Whether all playback devices of the card are those of a screen."""
    infos = [_text(info) for info in folder.glob("pcm*p/info")]
    return bool(_SCREEN.search(card_id)) or (
        bool(infos) and all(_SCREEN.search(info) for info in infos)
    )


def _first_device(folder: Path, direction: Direction) -> int:
    """The lowest number of the card's devices of that direction, screens excluded; 0 if none."""
    letter = _LETTER[direction]
    found = [
        int(path.name[3:-1])
        for path in folder.glob(f"pcm*{letter}")
        if path.name[3:-1].isdigit() and not _SCREEN.search(_text(path / "info"))
    ]
    return min(found, default=0)


def _card_folder(device: str, proc: Path) -> Path | None:
    wanted = card_named(device)
    for card in list_cards(proc):
        if wanted in (card.id, str(card.number)):
            return proc / f"card{card.number}"
    return None


def _long_name(proc: Path, number: int) -> str:
    """The text after the dash in ` 0 [Array          ]: USB-Audio - ReSpeaker XVF3800`."""
    line = re.search(rf"^\s*{number} \[.*?\]: .*? - (.*)$", _text(proc / "cards"), re.MULTILINE)
    return line[1].strip() if line else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # the card was unplugged meanwhile
        return ""
