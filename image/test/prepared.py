"""A card as its owner prepares it: a seed with an ssh key, and nothing else.

What a Pi has beside its card is the emulated machine's, and is found by the box itself: pins with
the Pi 5's label (Machine.header), and a sound card, a loop of the kernel's under the name of a real
one (HARDWARE, on the kernel's command line).
"""

from __future__ import annotations

from pathlib import Path

from appliance.update.system.slot import CONFIG
from image.test.emulator import Card

SOUND_CARD = "Array"  # as a ReSpeaker calls itself
# modules-load.d(5). One stream each way, as a real card has: who opens it has it alone.
HARDWARE = f"modules_load=snd-aloop snd_aloop.id={SOUND_CARD} snd_aloop.pcm_substreams=1"


def prepared(image: Path, scratch: Path, door: Path, seed: str = "") -> Card:
    """A copy of the image. `door`: the owner's ssh key; `seed`: more lines of interlude.yaml."""
    card = Card.copy(image, scratch / "card.img")
    owner = door.with_suffix(".pub").read_text().strip()
    card.put(CONFIG, "interlude.yaml", f"ssh_keys: [{owner}]\n{seed}", scratch)
    return card
