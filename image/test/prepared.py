"""Prepares a card as its owner does: a seed with an ssh key, and nothing else.

The emulated machine provides the other hardware, which the box detects by itself: pins with the
Pi 5's label (Machine.header), and as sound card the kernel's snd-aloop under the name of a real one
(HARDWARE, on the kernel's command line).
"""

from __future__ import annotations

from pathlib import Path

from appliance.update.system.slot import CONFIG
from image.test.emulator import Card

SOUND_CARD = "Array"  # the name of a ReSpeaker
# modules-load.d(5). One stream in each direction, as in a real card: only one process can open it.
HARDWARE = f"modules_load=snd-aloop snd_aloop.id={SOUND_CARD} snd_aloop.pcm_substreams=1"


def prepared(image: Path, scratch: Path, door: Path, seed: str = "") -> Card:
    """A copy of the image with a seed. `door`: the owner's ssh key; `seed`: more lines of it."""
    card = Card.copy(image, scratch / "card.img")
    owner = door.with_suffix(".pub").read_text().strip()
    card.put(CONFIG, "interlude.yaml", f"ssh_keys: [{owner}]\n{seed}", scratch)
    return card
