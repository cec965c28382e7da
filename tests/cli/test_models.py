"""`interlude models list`, `fetch` and `verify`."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from appliance import settings
from appliance.cli import models
from appliance.errors import FetchError, ModelError
from appliance.models import catalogue
from appliance.models.store import ModelStore
from appliance.settings import Settings
from tests.models.hub_server import HubServer
from tests.models.laid import lay

NAME = "keywords-en"  # a small model whose revision and size are not pinned


class Owner:
    """A box and the output of its terminal."""

    def __init__(self, state_dir: Path) -> None:
        self.settings: Settings = settings.load(Path(os.devnull), {"state_dir": str(state_dir)})
        self.console = Console(file=io.StringIO(), width=200)

    @property
    def shown(self) -> str:
        assert isinstance(self.console.file, io.StringIO)
        return self.console.file.getvalue()


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer({"nothing": b"of the catalogue"}) as server:
        yield server


def test_list_shows_every_model_with_size_licence_and_state(owner: Owner) -> None:
    assert models.cli_list(owner.settings, owner.console) == 0
    for name in catalogue.load():
        assert name in owner.shown
    assert "4.1 GB" in owner.shown
    assert "Blizzard-2013-research" in owner.shown
    assert "missing" in owner.shown


def test_list_names_the_files_that_a_usb_stick_needs(owner: Owner) -> None:
    models.cli_list(owner.settings, owner.console)
    files = "gemma-4-e2b is: gemma-4-E2B-it-Q4_K_M.gguf, mmproj-F16.gguf"
    assert f"On a USB stick {files}" in owner.shown.splitlines()
    assert "On a USB stick pocket" not in owner.shown  # it is installed
    # The box looks for no model of this kind on a stick.
    assert f"On a USB stick {NAME}" not in owner.shown


def test_the_licence_is_shown_before_the_first_request_to_the_hub(
    owner: Owner, hub: HubServer
) -> None:
    def decline(question: str) -> str:
        assert "Apache-2.0 (https://" in owner.shown
        assert "GigaSpeech" in owner.shown
        assert "pinned" in owner.shown
        assert "licence" in question
        return "n"

    code = models.cli_fetch(
        owner.settings, NAME, endpoint=hub.endpoint, console=owner.console, ask=decline
    )
    assert code == models.DECLINED
    assert hub.requests == []


def test_without_a_terminal_the_licence_must_be_accepted_by_an_option(
    owner: Owner, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))  # not a terminal
    with pytest.raises(FetchError, match="--accept-licence"):
        models.cli_fetch(owner.settings, NAME, endpoint=hub.endpoint, console=owner.console)
    assert hub.requests == []


def test_after_the_licence_is_accepted_the_hub_is_asked_and_its_refusal_reported(
    owner: Owner, hub: HubServer
) -> None:
    for ask, accept in ((lambda _: "yes", False), (None, True)):
        with pytest.raises(FetchError, match="has no repository csukuangfj/"):
            models.cli_fetch(
                owner.settings, NAME, accept_licence=accept, endpoint=hub.endpoint,
                console=owner.console, ask=ask,
            )  # fmt: skip
    assert hub.requests


def test_an_unknown_model_is_an_error(owner: Owner) -> None:
    with pytest.raises(ModelError, match="Did you mean `gemma-4-e4b`"):
        models.cli_fetch(owner.settings, "gemma-4-e4", console=owner.console)


def test_a_damaged_model_is_reported_by_verify_and_counts_as_partial(owner: Owner) -> None:
    store = ModelStore.of(owner.settings)
    model = store.models["words-en"]
    lay(store, model)  # of zeros, which all have a wrong checksum
    store.path(model, model.files["tokens"]).write_bytes(b"")
    assert models.cli_verify(owner.settings, "words-en", owner.console) == 66
    assert "tokens.txt has 0 bytes instead of 5048" in owner.shown
    assert store.state(store.models["words-en"]) == "partial"


def test_verify_of_a_missing_model_explains_how_to_fetch_it(owner: Owner) -> None:
    assert models.cli_verify(owner.settings, "alba", owner.console) == 66
    assert "interlude models fetch alba" in owner.shown
