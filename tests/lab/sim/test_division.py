"""Speakers and recordings are divided once, in one table."""

from __future__ import annotations

from collections import defaultdict

import pytest

from appliance.errors import RecordingError
from lab.sim import division
from lab.sim.corpus import held_out

SOURCES = ("meetings", "calls", "wake words", "talk", "kitchens")


def test_each_name_has_one_role() -> None:
    for source in SOURCES:
        rows = division.rows(source)
        assert {role for role, _ in rows.values()} <= {"training", "tuning", "held-out"}


def test_people_of_one_meeting_have_one_role() -> None:
    roles = defaultdict(set)
    for role, group in division.rows("meetings").values():
        roles[group].add(role)
    assert all(len(each) == 1 for each in roles.values())
    assert division.part_of("meetings", "FEO070")[0] == division.part_of("meetings", "en2002b")[0]


def test_a_name_without_a_row_is_an_error() -> None:
    with pytest.raises(RecordingError, match="in no row"):
        division.part_of("meetings", "XYZ001")


def test_a_name_in_two_rows_is_an_error() -> None:
    with pytest.raises(RecordingError, match="two rows"):
        division.rows_of("twice", {"training": [["a"]], "test": [["a"]]})


@pytest.mark.parametrize("name", [f"{i:08x}" for i in range(0, 4_000_000, 123_457)])
def test_held_out_speakers_of_the_benches_are_only_in_the_test(name: str) -> None:
    assert (division.part_of("words", name)[0] == "held-out") == held_out(name)
