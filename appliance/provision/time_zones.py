"""The time zones that this system has, also by a name of old.

Debian 13 keeps the files of former names (US/Eastern, Asia/Calcutta) in a package of their own,
which not every system has. Their table is in tzdata.zi, which every one has (zic(8)): a line
`L target alias` for each.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = "usr/share/zoneinfo"
TABLE = "tzdata.zi"
_LINK = "L"


def find_zone(root: Path, name: str) -> str:
    """The name of the file for `name`: its own, or that which the table leads to; "" if there is
    none. `name`: letters, as a seed may have them (seed.check)."""
    folder = root / FOLDER
    if (folder / name).is_file():
        return name
    targets = _targets(folder / TABLE)
    seen = {name}
    while (name := targets.get(name, "")) and name not in seen:
        if (folder / name).is_file():
            return name
        seen.add(name)
    return ""


def _targets(table: Path) -> dict[str, str]:
    """Alias → name; empty where there is no table."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    rows = (line.split() for line in lines)
    return {row[2]: row[1] for row in rows if len(row) == 3 and row[0] == _LINK}
