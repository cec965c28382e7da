"""Root leaves the wish for a model that the page has asked for, and for nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from appliance.cli import models
from appliance.cli.requested_model import cli_wish
from appliance.models import catalogue
from appliance.models.model_request import REQUEST, ModelRequest
from appliance.models.store import ModelStore, PinnedRevision
from appliance.runtime.handed_request import RequestOutcome, ask, outcome
from appliance.settings import Settings, adjusted, load
from appliance.settings.adjusted import AdjustedSettings, AdjustedValue
from tests.voice import bundles

ID = "0123456789abcdef"


class Box:
    """Root's folders and the box's, in a folder of the test's."""

    def __init__(self, root: Path) -> None:
        self.wish, self.voice_wish = root / "model-wanted", root / "voice-wanted"
        self.wanted, self.changed = root / "wanted", root / "changed"
        for folder in (self.wanted, self.changed, root / "models"):
            folder.mkdir()
        self.settings: Settings = load(
            None, {"state_dir": str(root), "thinking": {"model": "gemma-4-e2b"}}
        )
        self.store = ModelStore.of(self.settings, self.wish)

    def run(self, do: str, name: str, user: int | None = None) -> RequestOutcome | None:
        ask(REQUEST, msgspec.convert({"id": ID, "do": do, "name": name}, ModelRequest), self.wanted)
        return self.take(user)

    def take(self, user: int | None = None) -> RequestOutcome | None:
        me = os.geteuid() if user is None else user
        code = cli_wish(
            lambda: self.settings, wanted=self.wanted, changed=self.changed, request_file=self.wish,
            voice_request_file=self.voice_wish, user=me,
        )  # fmt: skip
        assert code == 0
        assert list(self.wanted.iterdir()) == []
        return outcome(REQUEST, ID, self.changed)

    def lay(self, name: str) -> None:
        """A model, whole as far as anybody can see without reading gigabytes."""
        model = catalogue.load()[name]
        self.store.folder(model).mkdir()
        for file in model.files.values():
            self.store.path(model, file).touch()
        files = {file.path: file for file in model.files.values()}
        self.store.mark_complete(model, PinnedRevision("r", files))


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_a_model_that_was_asked_for_is_wished_for_and_a_voice_likewise(box: Box) -> None:
    assert box.run("fetch", "gemma-4-e4b") == RequestOutcome(ID)
    assert box.wish.read_text() == "gemma-4-e4b\n"
    assert not box.voice_wish.exists()
    box.wish.unlink()
    assert box.run("fetch", "ljspeech") == RequestOutcome(ID)
    assert (box.voice_wish.read_text(), box.wish.exists()) == ("ljspeech\n", False)


def test_one_that_is_to_go_is_removed_by_who_fetches(
    box: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    box.lay("ljspeech")
    assert box.run("remove", "ljspeech") == RequestOutcome(ID)
    assert box.wish.read_text() == "remove ljspeech\n"
    assert models.cli_bring(box.settings, request_file=box.wish) == 0
    assert "ljspeech: removed" in capsys.readouterr().out
    assert box.store.state(catalogue.load()["ljspeech"]) == "missing"


@pytest.mark.parametrize(
    ("do", "name", "why"),
    [("fetch", "gemma-5", "no model"), ("fetch", "../../etc", "no model"),
     ("fetch", "pocket", "comes with the box"), ("remove", "pocket", "comes with the box"),
     ("fetch", "mimi", "by hand"), ("remove", "gemma-4-e2b", "in use"),
     ("fetch", "remove ljspeech", "no model"), ("fetch", "a\nb", "no model")],
)  # fmt: skip
def test_what_would_do_harm_is_refused_in_words(box: Box, do: str, name: str, why: str) -> None:
    told = box.run(do, name)
    assert told is not None
    assert why in f"{told.problem} {told.remedy}"
    assert not box.wish.exists()
    assert not box.voice_wish.exists()


@pytest.mark.parametrize(
    ("chosen", "refused"),
    [("ljspeech", ["ljspeech"]), ("alba", ["alba"]), (None, ["ljspeech"]), ("espeak", [])],
)
def test_the_voice_that_speaks_is_not_removed_by_whatever_it_was_chosen(
    box: Box, chosen: str | None, refused: list[str]
) -> None:
    """The settings file says `auto`: the first of the voices that are here, or what was set."""
    for name in ("alba", "ljspeech"):
        box.lay(name)
    bundles.plant(box.settings.programs_path())
    if chosen:
        kept = AdjustedSettings(voice=AdjustedValue(chosen, box.settings.speaking.voice))
        adjusted.path(box.settings).write_bytes(msgspec.json.encode(kept))
    for name in ("alba", "ljspeech"):
        told = box.run("remove", name)
        assert told is not None
        assert ("in use" in told.problem) == (name in refused), (name, told)
        assert box.wish.exists() == (name not in refused)
        box.wish.unlink(missing_ok=True)


def test_a_voice_that_was_set_and_that_nothing_here_speaks_is_in_use_all_the_same(box: Box) -> None:
    box.lay("ljspeech")
    kept = AdjustedSettings(voice=AdjustedValue("ljspeech", box.settings.speaking.voice))
    adjusted.path(box.settings).write_bytes(msgspec.json.encode(kept))
    told = box.run("remove", "ljspeech")
    assert told is not None
    assert "in use" in told.problem


def test_one_at_a_time(box: Box) -> None:
    box.run("fetch", "gemma-4-e4b")
    told = box.run("fetch", "ljspeech")
    assert told is not None
    assert "fetched or removed already" in told.problem
    assert not box.voice_wish.exists()


def test_what_is_here_is_not_fetched_again(box: Box) -> None:
    box.lay("ljspeech")
    told = box.run("fetch", "ljspeech")
    assert told is not None
    assert "here already" in told.problem


def test_a_request_of_another_user_and_what_is_none_leave_no_wish(box: Box) -> None:
    assert box.run("fetch", "ljspeech", user=os.geteuid() + 1) is None
    for data in (b"", b"{}", b"x" * 40_000, b'{"id":"0123456789abcdef","do":"run","name":"x"}'):
        (box.wanted / REQUEST).write_bytes(data)
        assert box.take() is None
    assert not box.wish.exists()
