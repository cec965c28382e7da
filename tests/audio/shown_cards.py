"""Sound cards as the kernel lists them in /proc/asound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shown:
    """A card's entry in /proc/asound. `streams`: folder → content of its info file."""

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

# An Intel board whose HDMI devices come first and whose microphones come last.
ODD = Shown("sofhdadsp", (("pcm3p", "id: HDMI1"), ("pcm5p", "id: Speaker"), ("pcm6c", "id: DMIC")))
HDA_SCREEN = Shown("NVidia", (("pcm3p", "id: HDMI 0"), ("pcm7p", "id: DisplayPort 1")))


def asound(folder: Path, *cards: Shown | None) -> Path:
    """Write `cards` in the order of their numbers; None leaves a number free."""
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
