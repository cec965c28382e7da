"""The commands: where --settings may be, as which user a command runs, and what is refused."""

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
def test_invalid_arguments_exit_with_2_and_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: interlude")


@pytest.mark.parametrize("place", ["before", "after"])
def test_settings_may_precede_or_follow_the_command(place: str) -> None:
    words = ["--settings", "a", "config"] if place == "before" else ["config", "--settings", "a"]
    assert parser().parse_args(words).settings == Path("a")


@given(st.text() | st.integers(-5, 5).map(str))
def test_a_positive_number_is_accepted_and_anything_else_refused(text: str) -> None:
    if text.isdecimal() and int(text) > 0:
        assert positive_number(text) == int(text)
    else:
        with pytest.raises(argparse.ArgumentTypeError, match="should be a number above 0"):
            positive_number(text)


def test_a_command_runs_as_the_user_of_its_group_unless_it_names_another() -> None:
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
def test_commands_that_change_the_system_run_as_the_caller_and_the_others_as_a_service_user(
    words: list[str], runs_as: str
) -> None:
    assert parser().parse_args(words).runs_as == runs_as


@pytest.mark.parametrize(
    ("words", "taken"),
    [(["say", "two", "words"], ["two", "words"]), (["mute"], []), (["mute", "off"], ["off"]),
     (["stop"], [])],
)  # fmt: skip
def test_a_command_to_the_box_keeps_its_name_and_arguments(
    words: list[str], taken: list[str]
) -> None:
    under, verbs = made()
    told_verbs(verbs, lambda args: 7)
    args = under.parse_args(words)
    assert (args.verb, args.words, args.act(args)) == (words[0], taken, 7)


def test_each_command_to_the_box_has_one_row() -> None:
    names = [name for name, _, _ in TOLD]
    assert sorted(set(names)) == sorted(names)


def test_the_names_of_the_lab_commands_match_the_commands_of_the_lab() -> None:
    under, verbs = made()
    lab_verbs(verbs, lambda args: pytest.fail("this command reads no settings"))
    for name in LAB_VERBS:
        words = [name, "scene.yaml"] if name == "rehearse" else [name]
        assert under.parse_args(words).runs_as == "caller"


@pytest.mark.parametrize("doing", ["install", "try", "rollback"])
def test_a_system_command_waits_900_s_for_the_end_of_a_conversation_by_default(doing: str) -> None:
    assert parser().parse_args(["system", doing]).wait == 900
    args = parser().parse_args(["system", doing, "--wait", "5"])
    assert (args.wait, args.doing) == (5, "try" if doing == "rollback" else doing)


@pytest.mark.parametrize(
    "doing", ["begin", "grow", "setup", "page", "change", "network", "try-broker"]
)
def test_the_commands_of_the_image_units_exist(doing: str) -> None:
    assert parser().parse_args(["system", doing]).doing == doing


def test_enrol_requires_at_least_one_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert parser().parse_args(["enrol"]).takes == 4
    assert parser().parse_args(["enrol", "--from", "words"]).folder == Path("words")
    with pytest.raises(SystemExit):
        parser().parse_args(["enrol", "--takes", "0"])
    assert "should be a number above 0" in capsys.readouterr().err
