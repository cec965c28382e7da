"""The table of kernels that an image may have. The build is the same for all of them.

debian  that of Debian 13's backports: it has the Pi 5's device trees, its RP1 and network, and QEMU
        boots it. It lacks the I2S block: microphone and loudspeaker must be on USB.
rpi     the Raspberry Pi's own, for sound cards on the pin header. INTERLUDE_RPI_SOURCE must be set
        to the sources line of its archive. It has not been built yet.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Flavour:
    """One row.

    package  Debian's package; its dependencies of the same source package are fetched as well
    suites   Debian's suites that have it
    source   environment variable with the sources line of another archive; "" for none
    trees    device trees of the Pi 5: the firmware's file name → path in the package
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
