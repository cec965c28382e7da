"""Divides speakers and recordings once into training, tuning and test, by `division.yaml`.

In: a source and the name of a speaker, meeting, phrase or recording. Out: the role ("held-out" is
the test) and the group that stays together. Training, tuning and benches all ask here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from appliance.errors import RecordingError
from lab.sim.corpus import Role, role_of

TABLE = Path(__file__).parent / "division.yaml"
ROLES: dict[str, Role] = {"training": "training", "tuning": "tuning", "test": "held-out"}
BY_NAME = ("words", "orders", "said")  # sources divided by a hash of the name


@cache
def table() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return loaded


@cache
def rows(source: str) -> dict[str, tuple[Role, str]]:
    """For each name of a source its role and its group. Raises RecordingError as `rows_of`."""
    return rows_of(source, table().get(source, {}))


def rows_of(source: str, parts: dict[str, list[list[str]]]) -> dict[str, tuple[Role, str]]:
    """For each name in the `parts` of a source its role and its group. Raises RecordingError if a
    name is in two rows or there is none."""
    made: dict[str, tuple[Role, str]] = {}
    for part, groups in parts.items():
        for group in groups:
            for name in group:
                if name in made:
                    raise RecordingError(f"{TABLE.name}: {source} {name} stands in two rows.")
                made[name] = ROLES[part], "+".join(group)
    if not made:
        raise RecordingError(f"{TABLE.name}: has no source {source}.")
    return made


def part_of(source: str, name: str) -> tuple[Role, str]:
    """Role and group of a name. Raises RecordingError for a name that the table does not have."""
    if source in BY_NAME:
        return role_of(name), name
    if name not in rows(source):
        raise RecordingError(f"{TABLE.name}: {source} {name} is in no row.", "Add it to one.")
    return rows(source)[name]


def undecided(recording: str) -> bool:
    """Whether a recording has no label: it begins as a murmur and goes on."""
    return recording in table()["undecided"]


def talker_murmurs(recording: str) -> bool:
    """Whether the other person of a moment murmurs, so that starts of talk are not taken there."""
    return recording in table()["talkers who murmur"]
