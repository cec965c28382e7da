"""The pictures of the interruption bench: all of them, and none without figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.bench.interruption_findings import InterruptionFindings


@pytest.mark.long
def test_every_picture_and_the_combined_one_are_drawn(
    found: InterruptionFindings, tmp_path: Path
) -> None:
    from lab.bench import interruption_pictures as pictures  # here: matplotlib takes half a second

    (note,) = pictures.draw(found, tmp_path / "new")
    names = {path.stem for path in (tmp_path / "new").glob("*.png")}
    assert names == {*pictures.PANELS, "interruption"}
    assert str(tmp_path) in note


@pytest.mark.long
def test_without_figures_there_is_no_picture(tmp_path: Path) -> None:
    from lab.bench import interruption_pictures as pictures

    assert pictures.draw(InterruptionFindings(), tmp_path) == [
        "No picture: nothing to draw was measured."
    ]
    assert list(tmp_path.iterdir()) == []
