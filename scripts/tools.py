"""Reads the table of tools, tools.txt, from which scripts/packages.sh installs."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("tools.txt")
ROLES = ("setup", "bench", "release", "test", "check", "boxes", "image")
KINDS = ("python", "header", "library", "static", "file")
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"  # an unprivileged user's PATH may lack these


@dataclass(frozen=True)
class Row:
    """A row: commands or items `kind:name`, their Debian package, the roles that need them, why."""

    things: tuple[str, ...]
    package: str
    roles: tuple[str, ...]
    why: str

    def is_for(self, *asked: str, machine: str = "") -> bool:
        """Whether the row has one of the roles `asked` on this architecture."""
        architecture = machine or platform.machine()
        parts = (role.partition("@") for role in self.roles)
        own_roles = {role for role, _, kind in parts if kind in ("", architecture)}
        return not own_roles.isdisjoint(asked)

    @property
    def commands(self) -> tuple[str, ...]:
        """The names of the row's programs, including a statically linked one."""
        names = (name.removeprefix("static:") for name in self.things)
        return tuple(name for name in names if ":" not in name)


def rows(table: Path = TABLE) -> Iterator[Row]:
    """Every row, in order. Raises ValueError for a line with fewer than four columns."""
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.split(maxsplit=3)
        if len(columns) < 4:
            raise ValueError(f"{table.name}:{number}: four columns are wanted: {line!r}")
        things, package, roles, why = columns
        yield Row(tuple(things.split(",")), package, tuple(roles.split(",")), why)


def commands(*roles: str, table: Path = TABLE) -> dict[str, str]:
    """Program → package, for all rows that have one of these roles."""
    wanted = (row for row in rows(table) if row.is_for(*roles))
    return {command: row.package for row in wanted for command in row.commands}


def find(program: str, path: str) -> str | None:
    """Path of a program, searched in `path` (in the form of PATH) and then in SBIN; None if
    missing."""
    return shutil.which(program, path=f"{path}:{SBIN}")
