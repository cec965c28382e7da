"""Root writes the request file for a model that the page requests, and for nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from appliance.background_file import write_private
from appliance.cli import models_services
from appliance.cli.requested_model import cli_request
from appliance.models import catalogue
from appliance.models.model_request import REQUEST, ModelRequest
from appliance.models.store import ModelStore
from appliance.runtime.handed_request import RequestOutcome, ask, outcome
from appliance.settings import Settings, adjusted, load
from appliance.settings.adjusted import AdjustedSettings, AdjustedValue
from tests.models.laid import lay
from tests.voice import bundles

ID = "0123456789abcdef"


class Box:
    """The folders of root and of the box, below one folder of the test."""

    def __init__(self, root: Path) -> None:
        self.request_file, self.voice_request_file = root / "model-wanted", root / "voice-wanted"
        self.wanted, self.changed = root / "wanted", root / "changed"
        for folder in (self.wanted, self.changed, root / "models"):
            folder.mkdir()
        self.settings: Settings = load(
            None, {"state_dir": str(root), "thinking": {"model": "gemma-4-e2b"}}
        )
        self.store = ModelStore.of(self.settings, self.request_file)

    def run(self, do: str, name: str, user: int | None = None) -> RequestOutcome | None:
        ask(REQUEST, msgspec.convert({"id": ID, "do": do, "name": name}, ModelRequest), self.wanted)
        return self.take(user)

    def take(self, user: int | None = None) -> RequestOutcome | None:
        me = os.geteuid() if user is None else user
        code = cli_request(
            lambda: self.settings, wanted=self.wanted, changed=self.changed,
            request_file=self.request_file, voice_request_file=self.voice_request_file, user=me,
        )  # fmt: skip
        assert code == 0
        assert list(self.wanted.iterdir()) == []
        return outcome(REQUEST, ID, self.changed)

    def lay(self, name: str) -> None:
        lay(self.store, catalogue.load()[name])


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_a_requested_model_or_voice_is_written_to_its_request_file(box: Box) -> None:
    assert box.run("fetch", "gemma-4-e4b") == RequestOutcome(ID)
    assert box.request_file.read_text() == "gemma-4-e4b\n"
    assert not box.voice_request_file.exists()
    box.request_file.unlink()
    assert box.run("fetch", "ljspeech") == RequestOutcome(ID)
    assert (box.voice_request_file.read_text(), box.request_file.exists()) == ("ljspeech\n", False)


def test_a_model_to_remove_is_removed_by_the_model_service(
    box: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    box.lay("ljspeech")
    assert box.run("remove", "ljspeech") == RequestOutcome(ID)
    assert box.request_file.read_text() == "remove ljspeech\n"
    assert models_services.cli_bring(box.settings, request_file=box.request_file) == 0
    assert "ljspeech: removed" in capsys.readouterr().out
    assert box.store.state(catalogue.load()["ljspeech"]) == "missing"


@pytest.mark.parametrize(
    ("do", "name", "why"),
    [("fetch", "gemma-5", "no model"), ("fetch", "../../etc", "no model"),
     ("fetch", "pocket", "comes with the box"), ("remove", "pocket", "comes with the box"),
     ("fetch", "mimi", "by hand"), ("remove", "gemma-4-e2b", "in use"),
     ("fetch", "remove ljspeech", "no model"), ("fetch", "a\nb", "no model")],
)  # fmt: skip
def test_a_harmful_request_is_refused_with_a_reason(box: Box, do: str, name: str, why: str) -> None:
    result = box.run(do, name)
    assert result is not None
    assert why in f"{result.problem} {result.remedy}"
    assert not box.request_file.exists()
    assert not box.voice_request_file.exists()


@pytest.mark.parametrize(
    ("chosen", "refused"),
    [("ljspeech", ["ljspeech"]), ("alba", ["alba"]), (None, ["ljspeech"]), ("espeak", [])],
)
def test_the_voice_in_use_is_not_removed_however_it_was_chosen(
    box: Box, chosen: str | None, refused: list[str]
) -> None:
    """The settings file says `auto`: the voice in use is the one that was set, or the first
    installed one."""
    for name in ("alba", "ljspeech"):
        box.lay(name)
    bundles.plant(box.settings.programs_path())
    if chosen:
        kept = AdjustedSettings(voice=AdjustedValue(chosen, box.settings.speaking.voice))
        write_private(adjusted.path(box.settings), msgspec.json.encode(kept))
    for name in ("alba", "ljspeech"):
        result = box.run("remove", name)
        assert result is not None
        assert ("in use" in result.problem) == (name in refused), (name, result)
        assert box.request_file.exists() == (name not in refused)
        box.request_file.unlink(missing_ok=True)


def test_a_voice_that_was_set_counts_as_in_use_even_without_a_program_for_it(box: Box) -> None:
    box.lay("ljspeech")
    kept = AdjustedSettings(voice=AdjustedValue("ljspeech", box.settings.speaking.voice))
    write_private(adjusted.path(box.settings), msgspec.json.encode(kept))
    result = box.run("remove", "ljspeech")
    assert result is not None
    assert "in use" in result.problem


def test_a_second_request_is_refused_until_the_first_is_fulfilled(box: Box) -> None:
    box.run("fetch", "gemma-4-e4b")
    result = box.run("fetch", "ljspeech")
    assert result is not None
    assert "fetched or removed already" in result.problem
    assert not box.voice_request_file.exists()


def test_an_installed_voice_is_not_fetched_again(box: Box) -> None:
    box.lay("ljspeech")
    result = box.run("fetch", "ljspeech")
    assert result is not None
    assert "here already" in result.problem


def test_a_request_of_another_user_and_an_invalid_one_write_no_request_file(box: Box) -> None:
    assert box.run("fetch", "ljspeech", user=os.geteuid() + 1) is None
    for data in (b"", b"{}", b"x" * 40_000, b'{"id":"0123456789abcdef","do":"run","name":"x"}'):
        (box.wanted / REQUEST).write_bytes(data)
        assert box.take() is None
    assert not box.request_file.exists()
