"""What the kernel tells about its sound cards, without opening any. In: /proc/asound."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Direction = Literal["capture", "playback"]

PROC_ASOUND = Path("/proc/asound")
_LETTER = {"capture": "c", "playback": "p"}  # of the folders pcm0c, pcm0p
# Of an ALSA name: hw:CARD=Array,DEV=0 or hw:Array,0.
_CARD = re.compile(r"^\w+:(?:.*\bCARD=)?([^,=]+)")


@dataclass(frozen=True)
class CardInfo:
    """One card. `device` is the name to put in the settings: it does not move as numbers do."""

    number: int
    id: str
    name: str
    capture: bool
    playback: bool

    @property
    def device(self) -> str:
        return f"plughw:CARD={self.id}"


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
            )
        )
    return found


def holder(device: str, direction: Direction, proc: Path = PROC_ASOUND) -> str:
    """Who has this card open, as `name (process 123)`; empty when that cannot be told."""
    folder = _folder(device, proc)
    if folder is None:
        return ""
    for status in sorted(folder.glob(f"pcm*{_LETTER[direction]}/sub*/status")):
        owner = re.search(r"owner_pid\s*:\s*(\d+)", _text(status))
        if owner:
            name = _text(Path(f"/proc/{owner[1]}/comm")).strip()
            return f"{name or 'a program'} (process {owner[1]})"
    return ""


def _folder(device: str, proc: Path) -> Path | None:
    named = _CARD.search(device)
    wanted = named[1] if named else ""
    for card in list_cards(proc):
        if wanted in (card.id, str(card.number)):
            return proc / f"card{card.number}"
    return None


def _long_name(proc: Path, number: int) -> str:
    """Of ` 0 [Array          ]: USB-Audio - ReSpeaker XVF3800`, what follows the dash."""
    line = re.search(rf"^\s*{number} \[.*?\]: .*? - (.*)$", _text(proc / "cards"), re.MULTILINE)
    return line[1].strip() if line else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # the card was unplugged meanwhile
        return ""
