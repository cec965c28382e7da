"""`interlude bench head --part words`: the word times of the head match the sound."""

from __future__ import annotations

import pytest

from lab.bench import head
from lab.bench.benches import BenchOptions
from tests.english import ENGLISH

pytestmark = pytest.mark.process


def test_the_word_times_of_head_and_teacher_match_an_alignment() -> None:
    (table,) = head.bench(BenchOptions(ENGLISH, events=4, parts=("words",)))
    assert [row[0] for row in table.rows] == ["head", "hibari"]
    for _, begins, latest, _, _, words, of in table.rows:
        assert 0.8 * float(of) <= float(words) <= float(of)
        assert 0 < float(begins) < 60
        assert float(begins) <= float(latest) < 200
