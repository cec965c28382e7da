"""The timeline picture of a rehearsal: captions stay inside the page."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("at", [12.0, 14.7, 15.5, 18.3])
def test_a_caption_near_the_end_of_a_row_is_not_cut(at: float) -> None:
    from matplotlib import pyplot as plt  # imported here: it takes half a second

    from lab.sim import timeline

    figure, axis = plt.subplots(figsize=(17, 2), dpi=50)
    figure.subplots_adjust(left=0.085, right=0.995)
    axis.set_xlim(0, 18.5)
    text = "The moon is a quiet ball of grey stone that\ntravels around our world."
    timeline._caption(axis, at, 0.9, text, timeline.BOX, (0.0, 18.5))
    figure.canvas.draw()
    (caption,) = axis.texts
    extent, page = caption.get_window_extent(), axis.get_window_extent()
    plt.close(figure)
    assert page.x0 <= extent.x0
    assert extent.x1 <= page.x1
