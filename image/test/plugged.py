"""Observes the emulated machine's light from inside, and unplugs its sound card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from image.test.emulator import Machine

_DRIVER = "/sys/bus/platform/drivers/snd_aloop"
# Reads the three lines of the light 100 times and prints each combination once.
_LOOKS = """cd /sys/devices/platform/gpio-sim*/gpiochip*
for turn in $(seq 100); do
  echo "$(cat sim_gpio22/value)$(cat sim_gpio23/value)$(cat sim_gpio24/value)"
  sleep 0.05
done | sort -u"""
STATE = 'grep -q \'"state":"{}"\' /run/interlude/status.json'


def began_s(machine: Machine) -> tuple[float, float, float]:
    """Seconds after systemd's start: the light is on, the box's process starts, the box listens."""
    rows = machine.tell("journalctl -b -u interlude-light -o json --output-fields=MESSAGE")
    lit_us = next(
        int(row["__MONOTONIC_TIMESTAMP"])
        for row in map(json.loads, rows.splitlines())
        if "the light breathes" in row["MESSAGE"]
    )
    begun_us = int(machine.tell("systemctl show -P UserspaceTimestampMonotonic"))
    times = ("ExecMainStartTimestampMonotonic", "ActiveEnterTimestampMonotonic")
    box_us, ready_us = (int(machine.tell(f"systemctl show -P {at} interlude")) for at in times)
    lit, box, ready = ((at_us - begun_us) / 1e6 for at_us in (lit_us, box_us, ready_us))
    return lit, box, ready


def colours(machine: Machine) -> set[str]:
    """Red, green and blue as bits: all combinations within 5 s of the guest."""
    return set(machine.tell(_LOOKS).split())


@contextmanager
def pulled_out(machine: Machine) -> Iterator[None]:
    """Unbind the sound card's driver, as if the card were unplugged; bind it again at the end."""
    card = machine.tell(f"basename {_DRIVER}/snd_aloop.*")
    machine.tell(f"echo {card} >{_DRIVER}/unbind")
    try:
        yield
    finally:
        machine.tell(f"echo {card} >{_DRIVER}/bind")
