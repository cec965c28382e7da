"""The arguments of `interlude models`, from the command line to the actions."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path

import pytest

from appliance.cli.arguments import Verbs
from appliance.cli.models_arguments import models_verbs
from appliance.errors import FetchError, ModelError
from appliance.settings import Settings, load

ENCODER = "encoder-epoch-12-avg-2-chunk-16-left-64.int8.onnx"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a box without own models."""
    return load(None, {"state_dir": str(tmp_path)})


def typed(settings: Settings, *words: str) -> argparse.Namespace:
    under, common = argparse.ArgumentParser(), argparse.ArgumentParser(add_help=False)
    models_verbs(Verbs(under, common), common, lambda args: settings)
    return under.parse_args(["models", *words])


@pytest.mark.parametrize(
    "words",
    [["list"], ["fetch", "x"], ["verify"], ["bring"], ["announce"],
     ["give", "x", "f", "--most", "1"], ["take", "x"]],
)  # fmt: skip
def test_every_command_runs_as_the_model_user(settings: Settings, words: list[str]) -> None:
    assert typed(settings, *words).runs_as == "model"


@pytest.mark.parametrize(
    "words",
    [["give", "some", "text.gguf", "--at", "-1", "--most", "1"], ["give", "some", "text.gguf"],
     ["take", "some", "text.gguf", "--at", "x"], ["fetch"], ["fetch", "x", "--audio", "q4"]],
)  # fmt: skip
def test_an_invalid_number_of_bytes_and_an_unknown_format_are_refused(
    settings: Settings, words: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        typed(settings, *words)
    assert ended.value.code == 2


def test_the_list_is_json_with_an_option_and_a_table_without_it(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    args = typed(settings, "list", "--json")
    assert args.act(args) == 0
    listed = {row["name"]: row["state"] for row in json.loads(capsys.readouterr().out)["models"]}
    assert listed["gemma-4-e2b"] == "missing"
    args = typed(settings, "list")
    assert args.act(args) == 0
    assert "gemma-4-e2b" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["fetch", "gemma-4-e2"], ["verify", "gemma-4-e2"], ["take", "gemma-4-e2"]]
)
def test_an_unknown_name_is_answered_with_the_nearest_one(
    settings: Settings, words: list[str]
) -> None:
    args = typed(settings, *words)
    with pytest.raises(ModelError, match="gemma-4-e2b"):
        args.act(args)


def test_a_chunk_is_listed_after_take_and_the_next_one_continues_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for at in (0, 7):
        args = typed(settings, "take", "keywords-en", ENCODER, "--at", str(at))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a piece")))
        assert args.act(args) == 0
        assert int(capsys.readouterr().out) == at + 7
    with pytest.raises(FetchError, match="has 14 bytes here, not 7"):
        args.act(args)
    args = typed(settings, "list", "--json")
    args.act(args)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["models"]}
    have = {file["name"]: file["have"] for file in rows["keywords-en"]["files"]}
    assert have.pop(ENCODER) == 14
    assert set(have.values()) == {0}
