"""Verbs that may be typed: where settings may stand, as whom a verb runs, and what is refused."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.__main__ import main, parser
from appliance.cli.arguments import LAB_VERBS, TOLD, Verbs, lab_verbs, positive_number, told_verbs


def made() -> tuple[argparse.ArgumentParser, Verbs]:
    under, common = argparse.ArgumentParser(), argparse.ArgumentParser(add_help=False)
    common.add_argument("--settings", type=Path)
    return under, Verbs(under, common)


@pytest.mark.parametrize("words", [
    [], ["frobnicate"], ["models"], ["models", "fetch"], ["memory", "burn"], ["rehearse"],
    ["bench", "stop", "sixty"], ["bench", "stop", "--events", "0"], ["run", "--fast"],
    ["say"], ["release", "install", "a", "--wait", "long"], ["voices", "install"],
])  # fmt: skip
def test_words_that_are_no_verb_exit_with_2_and_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: interlude")


@pytest.mark.parametrize("place", ["before", "after"])
def test_settings_may_stand_before_the_verb_and_after_it(place: str) -> None:
    words = ["--settings", "a", "config"] if place == "before" else ["config", "--settings", "a"]
    assert parser().parse_args(words).settings == Path("a")


@given(st.text() | st.integers(-5, 5).map(str))
def test_a_number_is_above_0_or_refused(text: str) -> None:
    if text.isdecimal() and int(text) > 0:
        assert positive_number(text) == int(text)
    else:
        with pytest.raises(argparse.ArgumentTypeError, match="should be a number above 0"):
            positive_number(text)


def test_a_verb_runs_as_its_group_does_unless_it_says_otherwise() -> None:
    under, verbs = made()
    verbs.add("plain", "one")
    verbs.add("own", "another", runs_as="model")
    assert under.parse_args(["plain"]).runs_as == "box"
    assert under.parse_args(["own"]).runs_as == "model"


@pytest.mark.parametrize(
    ("words", "runs_as"),
    [
        (["say", "hello"], "box"), (["memory", "show"], "box"), (["voices", "list"], "box"),
        (["models", "list"], "model"), (["models", "fetch", "x"], "model"),
        (["release", "install", "x"], "caller"), (["system", "status"], "caller"),
        (["voices", "install", "x"], "caller"), (["bench"], "caller"),
    ],
)  # fmt: skip
def test_what_touches_the_system_runs_as_who_typed_it_and_the_rest_as_the_boxs_user(
    words: list[str], runs_as: str
) -> None:
    assert parser().parse_args(words).runs_as == runs_as


@pytest.mark.parametrize(
    ("words", "taken"),
    [(["say", "two", "words"], ["two", "words"]), (["mute"], []), (["mute", "off"], ["off"]),
     (["stop"], [])],
)  # fmt: skip
def test_what_is_told_to_the_box_keeps_its_verb_and_its_words(
    words: list[str], taken: list[str]
) -> None:
    under, verbs = made()
    told_verbs(verbs, lambda args: 7)
    args = under.parse_args(words)
    assert (args.verb, args.words, args.act(args)) == (words[0], taken, 7)


def test_each_told_verb_has_one_row() -> None:
    names = [name for name, _, _ in TOLD]
    assert sorted(set(names)) == sorted(names)


def test_the_labs_verbs_are_those_that_are_named_where_there_is_no_lab() -> None:
    under, verbs = made()
    lab_verbs(verbs, lambda args: pytest.fail("no settings are read for it"))
    for name in LAB_VERBS:
        words = [name, "scene.yaml"] if name == "rehearse" else [name]
        assert under.parse_args(words).runs_as == "caller"


@pytest.mark.parametrize("doing", ["install", "try", "rollback"])
def test_a_system_is_started_once_nobody_has_talked_for_a_while(doing: str) -> None:
    assert parser().parse_args(["system", doing]).wait == 900
    args = parser().parse_args(["system", doing, "--wait", "5"])
    assert (args.wait, args.doing) == (5, "try" if doing == "rollback" else doing)


@pytest.mark.parametrize(
    "doing", ["begin", "grow", "setup", "page", "change", "network", "try-broker"]
)
def test_the_units_of_a_card_have_their_verbs(doing: str) -> None:
    assert parser().parse_args(["system", doing]).doing == doing


def test_nobody_enrols_with_no_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert parser().parse_args(["enrol"]).takes == 4
    assert parser().parse_args(["enrol", "--from", "words"]).folder == Path("words")
    with pytest.raises(SystemExit):
        parser().parse_args(["enrol", "--takes", "0"])
    assert "should be a number above 0" in capsys.readouterr().err
