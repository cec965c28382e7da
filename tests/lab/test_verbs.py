"""The verbs of the lab: the options of demo, rehearse and bench."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.__main__ import parser


def test_a_benchmark_takes_a_number_of_events_and_a_seed() -> None:
    args = parser().parse_args(["bench", "stop", "--events", "60", "--seed", "7"])
    assert (args.name, args.events, args.seed) == ("stop", 60, 7)


def test_a_benchmark_without_options_has_the_default_values() -> None:
    args = parser().parse_args(["bench"])
    assert (args.name, args.events, args.seed) == ("", None, 1)
    assert (args.effort, args.speakers, args.parts) == ("default", None, [])


def test_parts_may_be_given_repeatedly() -> None:
    args = parser().parse_args(["bench", "interruption", "--part", "stop", "--part", "seam"])
    assert args.parts == ["stop", "seam"]


@pytest.mark.parametrize(
    "words",
    [["--quick", "--full"], ["--events", "-1"], ["--worst", "0"], ["--speakers", "mine"],
     ["--seed", "x"]],
)  # fmt: skip
def test_contradictory_options_and_invalid_numbers_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["bench", "interruption", *words])
    assert ended.value.code == 2


def test_several_scenes_are_one_rehearsal_with_one_report() -> None:
    args = parser().parse_args(["rehearse", "a.yaml", "b.yaml", "--report", "out"])
    assert (args.scene, args.report) == ([Path("a.yaml"), Path("b.yaml")], Path("out"))
    assert parser().parse_args(["demo"]).report is None


def test_the_demo_accepts_a_voice_which_is_empty_by_default() -> None:
    assert parser().parse_args(["demo", "--voice", "head"]).voice == "head"
    assert parser().parse_args(["demo"]).voice == ""
