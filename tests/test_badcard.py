"""A failing card: some of the file calls behind an owner's request fail. Reports must be true, the
conversation must go on, and the next attempt must succeed. image/test fails every call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.badcard import Fault, build, play

pytestmark = pytest.mark.process

EIO, FULL = Fault("EIO"), Fault("ENOSPC")
READ_ONLY, WORN_OUT = Fault("EROFS", lasts=True), Fault("EIO", lasts=True)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("badcard"))


@pytest.mark.parametrize(
    ("scene", "fault", "every", "hits"),
    [
        ("remember", EIO, 1, 5), ("forget_all", EIO, 2, 8), ("forget_last", EIO, 6, 7),
        ("factory_reset", READ_ONLY, 9, 5), ("enrolment", FULL, 2, 6), ("update", WORN_OUT, 49, 2),
        ("seed", EIO, 49, 2), ("forget_all", Fault(stall_s=0.6), 9, 2),
    ],
)  # fmt: skip
def test_whichever_call_fails_reports_are_true_and_the_next_attempt_succeeds(
    library: Path, tmp_path: Path, scene: str, fault: Fault, every: int, hits: int
) -> None:
    assert play(library, scene, fault, tmp_path, every=every) >= hits


def test_a_scene_with_a_false_report_fails(library: Path, tmp_path: Path) -> None:
    """Tests the check of the scenes: the word that is still on the card is found."""
    with pytest.raises(AssertionError, match="reported, but still on the card"):
        play(library, "false_report", EIO, tmp_path)
