"""A bad card, a slice of it: each of some calls fails under what an owner asks for. What is said
must be true, the box must talk on, and the next try must succeed. The whole: image/test."""

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
def test_whichever_call_fails_what_is_said_is_true_and_the_next_try_succeeds(
    library: Path, tmp_path: Path, scene: str, fault: Fault, every: int, hits: int
) -> None:
    assert play(library, scene, fault, tmp_path, every=every) >= hits


def test_a_scene_in_which_something_untrue_is_said_fails(library: Path, tmp_path: Path) -> None:
    """The scene's own test: what it looks for is found where it lies."""
    with pytest.raises(AssertionError, match="it is said and not so"):
        play(library, "says_what_is_not_so", EIO, tmp_path)
