"""The commands of the services: root accepts and removes what the user that fetches asks for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from appliance.cli import models, models_services
from appliance.models.placement import READY
from appliance.models.store import DROP, ModelStore
from appliance.settings import Settings, load
from tests.models.laid import lay

NAME = "keywords-en"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a box on which root has to accept a fetched model."""
    settings = load(None, {"state_dir": str(tmp_path)})
    (settings.models_path() / DROP).mkdir(parents=True)
    return settings


@contextmanager
def root_accepts(settings: Settings, request_file: Path | None = None) -> Iterator[None]:
    """Root's service runs whenever there is a note, as its path unit starts it."""
    over, drop = threading.Event(), settings.models_path() / DROP

    def serve() -> None:
        while not over.wait(0.01):
            if list(drop.glob(f"*/{READY}")):
                models_services.cli_accept(settings, request_file or Path("/nonexistent"))

    service = threading.Thread(target=serve)
    service.start()
    try:
        yield
    finally:
        over.set()
        service.join()


def test_a_removal_is_roots_and_leaves_nothing(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ModelStore.of(settings)
    model = store.models[NAME]
    lay(store, model)
    store.dropped(model).mkdir()
    store.partial(model, model.files["tokens"]).write_bytes(b"half of it")
    request = tmp_path / "model-wanted"
    request.write_text(f"remove {NAME}\n")
    with root_accepts(settings, request):
        assert models_services.cli_bring(settings, request_file=request) == 0
    assert capsys.readouterr().out.splitlines() == [f"{NAME}: removed"] * 2  # of both services
    assert store.state(model) == "missing"
    assert not store.dropped(model).exists()


def test_verify_has_root_delete_what_is_damaged(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ModelStore.of(settings)
    model = store.models[NAME]
    lay(store, model)  # zeros in place of every file
    with root_accepts(settings):
        assert models.cli_verify(settings, NAME, Console()) == 66
    said = capsys.readouterr().out
    assert "does not have the checksum" in said
    assert "is damaged, and was deleted" in said
    assert store.state(model) == "partial"


def test_without_a_note_there_is_nothing_to_accept(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert models_services.cli_accept(settings) == 0
    assert capsys.readouterr().out == ""
