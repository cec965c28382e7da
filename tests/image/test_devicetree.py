"""The hardware that the SD slot depends on, read from a device tree by handles and groups, if it is
enabled."""

from __future__ import annotations

import struct

import pytest

from image.devicetree import SD_SLOT, drivers, hangs_on

Properties = dict[str, bytes]


def word(number: int) -> bytes:
    return struct.pack(">I", number)


def even(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


class Tree:
    """Builds a .dtb file."""

    def __init__(self) -> None:
        self.body, self.strings = b"", b""

    def begin(self, name: str, properties: Properties) -> None:
        self.body += word(1) + even(name.encode() + b"\0")
        for key, value in properties.items():
            self.body += word(3) + word(len(value)) + word(len(self.strings)) + even(value)
            self.strings += key.encode() + b"\0"

    def end(self, times: int = 1) -> None:
        self.body += word(2) * times

    def bytes(self) -> bytes:
        body = self.body + word(9)
        head = struct.pack(">3I", 0xD00DFEED, 0, 40) + word(40 + len(body))
        return head.ljust(40, b"\0") + body + self.strings


@pytest.fixture
def tree() -> Tree:
    made = Tree()
    made.begin("", {"compatible": b"raspberrypi,5-model-b\0"})
    made.begin("soc", {"compatible": b"simple-bus\0"})
    made.begin("pins", {"compatible": b"its-pins\0", "phandle": word(1)})
    made.begin("sd-group", {"phandle": word(2)})
    made.end(2)
    made.begin("gpio", {"compatible": b"its-gpio\0", "phandle": word(3)})
    made.end()
    made.begin("supply", {"compatible": b"regulator-gpio\0", "phandle": word(4),
                          "gpios": word(3) + word(17)})  # fmt: skip
    made.end()
    made.begin("sound", {"compatible": b"its-sound\0", "phandle": word(5)})
    made.end()
    return made


def test_supplies_their_gpio_lines_and_the_pins_are_found(tree: Tree) -> None:
    tree.begin("mmc", {"compatible": f"{SD_SLOT}\0brcm,sdhci-brcmstb\0".encode(),
                       "vqmmc-supply": word(4), "pinctrl-0": word(2)})  # fmt: skip
    tree.end(3)
    found = hangs_on(tree.bytes())
    assert found >= {SD_SLOT, "regulator-gpio", "its-gpio", "its-pins", "simple-bus"}
    assert "its-sound" not in found


def test_a_disabled_slot_depends_on_nothing(tree: Tree) -> None:
    tree.begin("mmc", {"compatible": f"{SD_SLOT}\0".encode(), "status": b"disabled\0",
                       "vqmmc-supply": word(4)})  # fmt: skip
    tree.end(3)
    assert hangs_on(tree.bytes()) == set()


ALIASES = """# Aliases extracted from modules themselves.
alias of:N*T*Cits-gpioC* gpio_its
alias of:N*T*Cits-gpio gpio_its
alias of:N*T*Cits-soundC* snd_its
alias pci:v00001DE4d00000001sv*sd*bc*sc*i* rp1_pci
"""


def test_drivers_are_found_by_the_kernels_alias_list() -> None:
    assert drivers({"its-gpio", "simple-bus"}, ALIASES) == {"gpio_its"}
    assert drivers({"its-gpi"}, ALIASES) == set()
