"""A card that lets a test in, with a sound card and a header of software: no Pi has to be near."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from image.test.emulator import Card

SETTINGS = """card: {capture: "plughw:CARD=Loopback,DEV=0", playback: "plughw:CARD=Loopback,DEV=0"}
panel: {gpio: header, night: ""}
"""
# A sound card of software, and a header of the kernel's GPIO simulator, before the box starts. The
# label is what the panel looks for on a Pi 5.
HEADER = """#!/bin/sh
set -e
cd /sys/kernel/config/gpio-sim
mkdir -p header/bank0
echo 28 >header/bank0/num_lines
echo pinctrl-rp1 >header/bank0/label
echo 1 >header/live
line=$(echo /sys/devices/platform/gpio-sim.*/gpiochip*/sim_gpio17)
echo pull-up >"$line/pull"
"""
HEADER_UNIT = """[Unit]
Description=A header of the kernel's simulator
DefaultDependencies=no
After=systemd-modules-load.service sys-kernel-config.mount
Requires=sys-kernel-config.mount
Before=sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /etc/header.sh
"""


def prepared(image: Path, scratch: Path, door: Path, more: Mapping[str, str] | None = None) -> Card:
    """A copy of the image. `door`: the ssh key to come in by; `more`: files of root's by path."""
    card = Card.copy(image, scratch / "card.img")
    files = {
        "root/.ssh/authorized_keys": door.with_suffix(".pub").read_text(),
        # Ten seconds of penalty for a caller that gave up are an hour of ours.
        "etc/ssh/sshd_config.d/10-test.conf": "PerSourcePenalties no\n",
        "etc/modules-load.d/test.conf": "snd-aloop\ngpio-sim\n",
        "etc/header.sh": HEADER,
        "etc/systemd/system/header.service": HEADER_UNIT,
        "etc/systemd/system/sysinit.target.d/header.conf": "[Unit]\nWants=header.service\n",
        **(more or {}),
    }
    card.keep({f"keep/{path}": content for path, content in files.items()}, scratch)
    card.keep({"etc/interlude/settings.yaml": SETTINGS}, scratch, mode=0o644)
    return card
