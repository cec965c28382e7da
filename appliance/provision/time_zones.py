"""Finds the time zones of this system, also by their former names.

Debian 13 has the files of former names (US/Eastern, Asia/Calcutta) in a separate package, which not
every system has. tzdata.zi, which every system has, lists these names (zic(8)), each with a line
`L target alias`.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = "usr/share/zoneinfo"
TABLE = "tzdata.zi"
_LINK = "L"


def find_zone(root: Path, name: str) -> str:
    """The zone file for `name`, found by its own name or by the alias table; "" if there is none.

    `name`: validated by seed.check. A file that is a link out of the folder is no zone: Debian's
    `localtime` leads to /etc/localtime, which would lead to itself."""
    folder = root / FOLDER
    if _is_zone(folder, name):
        return name
    targets = _targets(folder / TABLE)
    visited = {name}
    while (name := targets.get(name, "")) and name not in visited:
        if _is_zone(folder, name):
            return name
        visited.add(name)
    return ""


def _is_zone(folder: Path, name: str) -> bool:
    file = folder / name
    try:
        inside = file.resolve(strict=True).is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # RuntimeError: a loop of links, up to Python 3.12
        return False
    return inside and file.is_file()


def _targets(table: Path) -> dict[str, str]:
    """Alias → target; empty if there is no table."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    rows = (line.split() for line in lines)
    return {row[2]: row[1] for row in rows if len(row) == 3 and row[0] == _LINK}
