"""Models of the owner's own: a row in the settings or the seed, files on a stick, and then it is as
good as one of the catalogue's."""

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


def test_a_row_of_the_settings_comes_from_a_stick_and_is_the_model(tmp_path: Path) -> None:
    settings = load(
        written(
            tmp_path, {"mine": row(persona="You are mine.", instruction="", history_tokens=900)}
        )
    )
    (tmp_path / "wanted").write_text("mine\n")
    store = ModelStore.of(settings, tmp_path / "wanted")
    store.root.mkdir()
    assert resolve(settings, store.wish).name == "pocket"
    told: list[DownloadNews] = []
    errand = BackgroundDownload(store, lambda model: None, told.append, lambda seconds: None)
    assert errand.copy_from_stick(stick(tmp_path / "stick"))
    found = resolve(settings, store.wish)
    assert (found.name, found.persona, found.history_tokens) == ("mine", "You are mine.", 900)
    assert found.instruction == ""
    assert found.text.read_bytes() == TEXT
    assert found.audio.read_bytes() == AUDIO
    assert store.damage(store.models["mine"]) == []
    assert [news.kind for news in told] == ["found", "here"]


def test_other_bytes_on_the_stick_are_refused(tmp_path: Path) -> None:
    settings = load(written(tmp_path, {"mine": row()}))
    (tmp_path / "wanted").write_text("mine\n")
    store = ModelStore.of(settings, tmp_path / "wanted")
    store.root.mkdir()
    errand = BackgroundDownload(store, lambda model: None, lambda news: None, lambda seconds: None)
    with pytest.raises(FetchError, match="not the file"):
        errand.copy_from_stick(stick(tmp_path / "stick", TEXT[:-1] + b"x"))
    assert store.state(store.models["mine"]) != "installed"


def test_without_a_repository_nobody_asks_the_hub(tmp_path: Path) -> None:
    settings = load(written(tmp_path, {"mine": row()}))
    (tmp_path / "wanted").write_text("mine\n")
    store = ModelStore.of(settings, tmp_path / "wanted")
    waits: list[float] = []
    told: list[DownloadNews] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            store.wish.unlink()

    def fetch(model: catalogue.CatalogueModel) -> None:
        raise AssertionError("there is no hub to ask")

    assert not BackgroundDownload(store, fetch, told.append, wait).run()
    assert waits == [AGAIN_S] * 3
    assert [news.kind for news in told] == ["by_stick"]
    assert "USB stick" in sentence(told[0], store.models["mine"], english())
    with pytest.raises(FetchError, match="names no repository"):
        ModelFetcher(store, ModelHub("http://127.0.0.1:1"), None).fetch(store.models["mine"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "change", "said"),
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
def test_a_row_that_cannot_be_is_a_sentence(
    tmp_path: Path, name: str, change: dict[str, Any], said: str
) -> None:
    with pytest.raises((SettingsError, ModelError), match=said):
        ModelStore.of(load(written(tmp_path, {name: row(**change)})))


def test_a_seed_may_bring_the_row(tmp_path: Path) -> None:
    said = {"model": "mine", "models": {"mine": row(temperature=0, instruction="")}}
    seed = parse_seed({"interlude.yaml": yaml.safe_dump(said).encode()})
    check(seed)
    files = {file.path: file.text for file in plan(seed, "mode: wake_word\n")}
    assert files[WANTED] == "mine\n"
    kept = yaml.safe_load(files[SETTINGS])
    assert kept["mode"] == "wake_word"
    assert kept["models"] == {"mine": row(temperature=0.0, instruction="")}
    path = tmp_path / "settings.yaml"
    path.write_text(files[SETTINGS])
    assert catalogue.with_own(load(path).models)["mine"].files["text"].size == len(TEXT)


@pytest.mark.parametrize(
    "said",
    [
        {"model": "mine"},
        {"model": "other", "models": {"mine": row()}},
        {"models": {"pocket": row()}},
        {"models": {"../mine": row()}},
        {"models": {"mine": row(text={"file": "a.gguf", "size": "many", "sha256": "0" * 64})}},
        {"models": "mine"},
    ],
)
def test_a_seed_with_a_row_that_cannot_be_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(SeedRefused):
        check(parse_seed({"interlude.yaml": yaml.safe_dump(said).encode()}))


def test_check_says_that_it_is_awaited_and_what_stands_in(tmp_path: Path) -> None:
    settings = load(written(tmp_path, {"mine": row()}))
    wish = tmp_path / "wanted"
    with pytest.raises(ModelError):
        language_model(settings, wish)
    wish.write_text("mine\n")
    assert "mine is awaited. Until it is here, pocket stands in" in language_model(settings, wish)
