"""The commands with which a playbook distributes the models of a fleet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.__main__ import parser
from appliance.cli import models_relay
from appliance.models import download_news
from appliance.models.relay import ModelRelay
from tests.models.relay_box import AUDIO, TEXT, box, brought, full_box, sha256


@pytest.fixture
def full(tmp_path: Path) -> ModelRelay:
    """A box on which the model is installed."""
    return full_box(tmp_path / "full")


@pytest.mark.parametrize("awaited", ["some", "another"])
def test_a_box_that_awaits_the_model_is_notified_of_its_arrival(
    tmp_path: Path, awaited: str, capsys: pytest.CaptureFixture[str]
) -> None:
    relay = box(tmp_path / "box")
    relay.store.request_file.write_text(awaited)
    brought(relay, "text.gguf", TEXT)
    brought(relay, "audio.gguf", AUDIO)
    assert models_relay.cli_take(relay.store, "some", None, 0, tmp_path) == 0
    assert capsys.readouterr().out == "some is here, every byte verified.\n"
    assert download_news.pop_news(tmp_path) == (
        download_news.DownloadNews("some", "here") if awaited == "some" else None
    )


def test_list_prints_json_and_negative_offsets_are_refused(
    full: ModelRelay, capsys: pytest.CaptureFixture[str]
) -> None:
    assert models_relay.cli_list_json(full.store) == 0
    (row,) = json.loads(capsys.readouterr().out)["models"]
    assert (row["state"], row["files"][1]["sha256"]) == ("installed", sha256(AUDIO))
    assert parser().parse_args(["models", "list", "--json"]).runs_as == "model"
    with pytest.raises(SystemExit):
        parser().parse_args(["models", "give", "some", "text.gguf", "--at", "-1", "--most", "1"])
