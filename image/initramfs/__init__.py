"""The initramfs's script and lists: folders on `data`, and kernel modules."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def _lines(name: str) -> tuple[str, ...]:
    rows = (row.split("#")[0].strip() for row in (FOLDER / name).read_text().splitlines())
    return tuple(row for row in rows if row)


KEPT = _lines("kept")  # folders of `data`, bind-mounted over those of the slot
MODULES = _lines("modules")
