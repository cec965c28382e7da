"""The kernels that an image may have: one table. The code that builds with them is the same.

debian  that of Debian 13's backports: the Pi 5's device trees, its RP1 and network are in it, and
        QEMU boots it. It lacks the I2S block: microphones and loudspeakers go by USB.
rpi     the Raspberry Pi's own, for sound cards on the pin header. Its archive is the builder's to
        reach: name its sources line in INTERLUDE_RPI_SOURCE. Not built by anybody yet.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Flavour:
    """One row.

    package  what leads to the kernel; its dependencies of the same source come along
    suites   of Debian that have it
    source   the environment's variable with a sources line of another archive; "" for none
    trees    device trees of the Pi 5: the firmware's name for it → where the package has it
    """

    name: str
    package: str
    suites: tuple[str, ...]
    source: str
    trees: dict[str, str]


_BCM = "broadcom/bcm2712"
FLAVOURS = {
    "debian": Flavour(
        "debian", "linux-image-arm64", ("trixie-backports",), "",
        {
            "bcm2712-rpi-5-b.dtb": f"{_BCM}-rpi-5-b.dtb",
            "bcm2712d0-rpi-5-b.dtb": f"{_BCM}-d-rpi-5-b.dtb",
        },
    ),
    "rpi": Flavour(
        "rpi", "linux-image-rpi-2712", (), "INTERLUDE_RPI_SOURCE",
        {
            "bcm2712-rpi-5-b.dtb": f"{_BCM}-rpi-5-b.dtb",
            "bcm2712d0-rpi-5-b.dtb": f"{_BCM}d0-rpi-5-b.dtb",
        },
    ),
}  # fmt: skip
