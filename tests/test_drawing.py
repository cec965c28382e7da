"""docs/architecture/processes.svg matches the process table."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest

from appliance.runtime.process_table import PROCESSES, RINGS
from scripts import drawing

MOST_BYTES = 30_000
SVG = drawing.PAGE.read_text(encoding="utf-8")
TEXTS = re.findall(r"<text [^>]*>([^<]*)</text>", SVG)


def test_the_drawing_is_generated_from_the_process_table() -> None:
    assert drawing.drawing() == SVG, "run: python -m scripts.reference"


def test_the_drawing_is_small_and_contains_its_labels_as_text() -> None:
    assert len(SVG.encode()) < MOST_BYTES
    assert {ring.name for ring in RINGS} <= set(TEXTS)
    assert all(any(text.split(" ")[0] == row.name for text in TEXTS) for row in PROCESSES)


def test_every_word_of_the_floor_has_a_writer() -> None:
    words = drawing.floor_words()
    assert (words["listener"], words["capture"]) == (["hold"], ["card_lead"])
    assert sum(map(len, words.values())) == 12  # runtime/ipc/README.md: a memfd with twelve words


def test_no_two_boxes_overlap() -> None:
    boxes = [box for box, _ in drawing.PLACES.values()] + [drawing.FLOOR]
    for first, second in combinations(boxes, 2):
        assert (
            first.right < second.left
            or second.right < first.left
            or first.bottom < second.top
            or second.bottom < first.top
        ), (first, second)


def test_a_process_on_other_cores_or_without_a_place_is_an_error() -> None:
    drawing.check_places(PROCESSES)
    moved = replace(PROCESSES[0], cores=(1,))
    with pytest.raises(ValueError, match=r"conductor runs on cores \(1,\)"):
        drawing.check_places([moved])
    with pytest.raises(ValueError, match="newcomer runs on cores"):
        drawing.check_places([replace(PROCESSES[0], name="newcomer")])
