"""Reads from a device tree which drivers a device of the Pi needs before its own.

modprobe resolves only symbol dependencies between modules; it does not know that the SD slot's
voltage is switched by a GPIO line. Format: the Devicetree Specification, "Flattened Devicetree".
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

SD_SLOT = "brcm,bcm2712-sdhci"  # `compatible` of the SD card's controller
_BEGIN, _END, _PROPERTY, _NOP = 1, 2, 3, 4
# Properties whose numbers may be another node's phandle. Some of them are not; those match no node.
_REFERENCES = re.compile(
    r".*-supply|pinctrl-\d|clocks|resets|power-domains|.*gpios?|interrupt-parent|phys|mboxes|dmas"
)


@dataclass
class Node:
    """One node, with its parent."""

    parent: Node | None
    properties: dict[str, bytes] = field(default_factory=dict)

    @property
    def compatible(self) -> list[str]:
        value = self.properties.get("compatible", b"")
        return value.decode().rstrip("\0").split("\0") if value else []

    @property
    def enabled(self) -> bool:
        return self.properties.get("status", b"okay\0") in (b"okay\0", b"ok\0")


def nodes(tree: bytes) -> list[Node]:
    """All nodes of a .dtb file."""
    structure, strings = struct.unpack(">2I", tree[8:16])
    found: list[Node] = []
    current: Node | None = None
    at = structure
    while True:
        (token,) = struct.unpack(">I", tree[at : at + 4])
        at += 4
        if token == _BEGIN:
            at = _aligned(tree.index(b"\0", at) + 1)
            current = Node(current)
            found.append(current)
        elif token == _END and current is not None:
            current = current.parent
        elif token == _PROPERTY and current is not None:
            length, name_offset = struct.unpack(">2I", tree[at : at + 8])
            at += 8
            begin = strings + name_offset
            property_name = tree[begin : tree.index(b"\0", begin)].decode()
            current.properties[property_name] = tree[at : at + length]
            at = _aligned(at + length)
        elif token != _NOP:
            return found


def hangs_on(tree: bytes, what: str = SD_SLOT) -> set[str]:
    """The `compatible` strings of the enabled devices `what` and of all nodes that they need."""
    known = nodes(tree)
    handles = {struct.unpack(">I", node.properties["phandle"])[0]: node
               for node in known if "phandle" in node.properties}  # fmt: skip
    waiting = [node for node in known if what in node.compatible and node.enabled]
    seen: list[Node] = []
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.append(node)
        if node.parent is not None:
            waiting.append(node.parent)  # a bus, or the controller of a group of pins
        for name, value in node.properties.items():
            if _REFERENCES.fullmatch(name) and len(value) % 4 == 0:
                numbers = struct.unpack(f">{len(value) // 4}I", value)
                waiting += [handles[number] for number in numbers if number in handles]
    return {word for node in seen for word in node.compatible}


def drivers(words: set[str], aliases: str) -> set[str]:
    """The modules for those `compatible` strings, by the kernel's modules.alias.

    Drivers that are built into the kernel are not listed there.
    """
    found = set()
    for line in aliases.splitlines():
        row = re.fullmatch(r"alias of:N\*T\*C(\S+?)(?:C?\*)? (\S+)", line)
        if row and row[1] in words:
            found.add(row[2])
    return found


def _aligned(at: int) -> int:
    return -(-at // 4) * 4
