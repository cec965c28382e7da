"""Own models of the owner: a row in the settings or the seed and files on a stick, then used like a
model of the catalogue."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from appliance.cli.check import language_model
from appliance.errors import FetchError, ModelError, SeedRefused, SettingsError
from appliance.language.catalogue import english
from appliance.models import catalogue
from appliance.models.background_download import AGAIN_S, BackgroundDownload
from appliance.models.download_news import DownloadNews, sentence
from appliance.models.fetcher import ModelFetcher
from appliance.models.hub import ModelHub
from appliance.models.store import ModelStore, resolve
from appliance.provision.seed import check
from appliance.provision.seed_files import SETTINGS, WANTED, plan
from appliance.provision.seed_parsers import parse_seed
from appliance.settings import load

TEXT, AUDIO = b"text" * 1000, b"audio" * 700


def row(**other: Any) -> dict[str, Any]:
    files = {
        role: {"file": f"mine-{role}.gguf", "size": len(data),
               "sha256": hashlib.sha256(data).hexdigest()}
        for role, data in (("text", TEXT), ("audio", AUDIO))
    }  # fmt: skip
    return {**files, **other}


def written(folder: Path, models: dict[str, Any], model: str = "mine") -> Path:
    path = folder / "settings.yaml"
    tree = {"models": models, "thinking": {"model": model}, "models_dir": str(folder / "models")}
    path.write_text(yaml.safe_dump(tree))
    return path


def stick(folder: Path, text: bytes = TEXT) -> Path:
    folder.mkdir()
    (folder / "mine-text.gguf").write_bytes(text)
    (folder / "mine-audio.gguf").write_bytes(AUDIO)
    return folder


def test_an_own_model_is_copied_from_a_stick_and_resolved(tmp_path: Path) -> None:
    settings = load(
        written(
            tmp_path, {"mine": row(persona="You are mine.", instruction="", history_tokens=900)}
        )
    )
    (tmp_path / "wanted").write_text("mine\n")
    store = ModelStore.of(settings, tmp_path / "wanted")
    store.root.mkdir()
    assert resolve(settings, store.request_file).name == "pocket"
    published: list[DownloadNews] = []
    download = BackgroundDownload(store, lambda model: None, published.append, lambda seconds: None)
    assert download.copy_from_stick(stick(tmp_path / "stick"))
    found = resolve(settings, store.request_file)
    assert (found.name, found.persona, found.history_tokens) == ("mine", "You are mine.", 900)
    assert found.instruction == ""
    assert found.text.read_bytes() == TEXT
    assert found.audio.read_bytes() == AUDIO
    assert store.damage(store.models["mine"]) == []
    assert [news.kind for news in published] == ["found", "here"]


def test_wrong_bytes_on_the_stick_are_refused(tmp_path: Path) -> None:
    settings = load(written(tmp_path, {"mine": row()}))
    (tmp_path / "wanted").write_text("mine\n")
    store = ModelStore.of(settings, tmp_path / "wanted")
    store.root.mkdir()
    download = BackgroundDownload(
        store, lambda model: None, lambda news: None, lambda seconds: None
    )
    with pytest.raises(FetchError, match="not the file"):
        download.copy_from_stick(stick(tmp_path / "stick", TEXT[:-1] + b"x"))
    assert store.state(store.models["mine"]) != "installed"


def test_a_model_without_a_repository_is_never_fetched_from_the_hub(tmp_path: Path) -> None:
    settings = load(written(tmp_path, {"mine": row()}))
    (tmp_path / "wanted").write_text("mine\n")
    store = ModelStore.of(settings, tmp_path / "wanted")
    waits: list[float] = []
    published: list[DownloadNews] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            store.request_file.unlink()

    def fetch(model: catalogue.CatalogueModel) -> None:
        raise AssertionError("there is no hub to ask")

    assert not BackgroundDownload(store, fetch, published.append, wait).run()
    assert waits == [AGAIN_S] * 3
    assert [news.kind for news in published] == ["by_stick"]
    assert "USB stick" in sentence(published[0], store.models["mine"], english())
    with pytest.raises(FetchError, match="names no repository"):
        ModelFetcher(store, ModelHub("http://127.0.0.1:1"), None).fetch(store.models["mine"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("gemma-4-e2b", {}, "catalogue has a model of that name"),
        ("pocket", {}, "catalogue has a model of that name"),
        ("../mine", {}, "no name for a model"),
        ("Mine", {}, "no name for a model"),
        ("mine", {"text": None}, "models.mine.text"),
        ("mine", {"licens": "mit"}, "licens"),
        ("mine", {"audio": {"file": "../x.gguf", "size": 1, "sha256": "0" * 64}}, "audio.file"),
        ("mine", {"audio": {"file": "x.bin", "size": 1, "sha256": "0" * 64}}, "audio.file"),
        ("mine", {"audio": {"file": "x.gguf", "size": 1, "sha256": "0" * 63}}, "audio.sha256"),
        ("mine", {"audio": {"file": "x.gguf", "size": 0, "sha256": "0" * 64}}, "audio.size"),
        ("mine", {"audio": row()["text"]}, "two files"),
    ],
)
def test_an_invalid_row_is_refused(
    tmp_path: Path, name: str, change: dict[str, Any], why: str
) -> None:
    with pytest.raises((SettingsError, ModelError), match=why):
        ModelStore.of(load(written(tmp_path, {name: row(**change)})))


def test_a_seed_may_contain_an_own_model(tmp_path: Path) -> None:
    values = {"model": "mine", "models": {"mine": row(temperature=0, instruction="")}}
    seed = parse_seed({"interlude.yaml": yaml.safe_dump(values).encode()})
    check(seed)
    files = {file.path: file.text for file in plan(seed, "mode: wake_word\n")}
    assert files[WANTED] == "mine\n"
    written_settings = yaml.safe_load(files[SETTINGS])
    assert written_settings["mode"] == "wake_word"
    assert written_settings["models"] == {"mine": row(temperature=0.0, instruction="")}
    path = tmp_path / "settings.yaml"
    path.write_text(files[SETTINGS])
    assert catalogue.with_own(load(path).models)["mine"].files["text"].size == len(TEXT)


@pytest.mark.parametrize(
    "values",
    [
        {"model": "mine"},
        {"model": "other", "models": {"mine": row()}},
        {"models": {"pocket": row()}},
        {"models": {"../mine": row()}},
        {"models": {"mine": row(text={"file": "a.gguf", "size": "many", "sha256": "0" * 64})}},
        {"models": "mine"},
    ],
)
def test_a_seed_with_an_invalid_row_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(SeedRefused):
        check(parse_seed({"interlude.yaml": yaml.safe_dump(values).encode()}))


def test_check_reports_an_awaited_model_and_its_replacement(tmp_path: Path) -> None:
    settings = load(written(tmp_path, {"mine": row()}))
    request_file = tmp_path / "wanted"
    with pytest.raises(ModelError):
        language_model(settings, request_file)
    request_file.write_text("mine\n")
    assert "mine is awaited. Until it is here, pocket stands in" in language_model(
        settings, request_file
    )
