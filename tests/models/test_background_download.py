"""A model that is awaited: the shipped one replaces it until the hub or a stick supplies it. Every
byte is verified, and news for the owner is recorded as kinds, without text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from appliance.errors import FetchError, InterludeError, ModelBusy, ModelError, StorageError
from appliance.models import catalogue
from appliance.models.background_download import (
    AGAIN_S,
    MOST_AGAIN_S,
    BackgroundDownload,
    awaited,
    awaited_sentence,
    copy,
    on_stick,
)
from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.download_news import DownloadNews
from appliance.models.store import ModelStore, PinnedRevision
from tests.models.laid import lay

TEXT, AUDIO = b"text" * 1000, b"audio" * 700


def large() -> CatalogueModel:
    files = {
        role: ModelFile(
            path=f"{role}.gguf", size=len(data), sha256=hashlib.sha256(data).hexdigest()
        )
        for role, data in (("text", TEXT), ("audio", AUDIO))
    }
    real = catalogue.find("gemma-4-e2b")
    return msgspec.structs.replace(real, name="large", files=files)


@dataclass
class Box:
    """A store that awaits the model `large`, and the news about it. `fails`: the errors of the next
    fetches."""

    store: ModelStore
    model: CatalogueModel
    published: list[DownloadNews] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    fails: list[InterludeError] = field(default_factory=list)

    def fetch(self, model: CatalogueModel) -> None:
        if self.fails:
            raise self.fails.pop(0)
        lay(self.store, model)

    @property
    def kinds(self) -> list[str]:
        assert {news.model for news in self.published} <= {self.model.name}
        return [news.kind for news in self.published]

    @property
    def download(self) -> BackgroundDownload:
        return BackgroundDownload(self.store, self.fetch, self.published.append, self.waits.append)


def put(folder: Path, text: bytes = TEXT, audio: bytes = AUDIO) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.gguf").write_bytes(text)
    (folder / "audio.gguf").write_bytes(audio)
    return folder


@pytest.fixture
def box(tmp_path: Path) -> Box:
    model = large()
    models = {"large": model, "pocket": catalogue.find("pocket")}
    store = ModelStore(tmp_path / "models", models, tmp_path / "model-wanted")
    store.root.mkdir()
    store.request_file.write_text("large\n")
    return Box(store, model)


def test_an_awaited_model_is_fetched_and_announced(box: Box) -> None:
    assert box.download.run()
    assert box.store.state(box.model) == "installed"
    assert box.kinds == ["fetching", "here"]
    assert awaited(box.store) is None
    assert not box.download.run()


def test_an_unreachable_hub_is_tried_again(box: Box) -> None:
    box.fails = [FetchError("The hub cannot be reached.")] * 3
    assert box.download.run()
    assert box.waits == [AGAIN_S] * 3
    assert box.kinds == ["fetching", "away", "away", "away", "here"]


def test_a_full_disk_has_its_own_news_and_ever_longer_pauses(box: Box) -> None:
    files = {role: ModelFile(path=f.path, size=1 << 43) for role, f in box.model.files.items()}
    huge = msgspec.structs.replace(box.model, files=files)
    crowded = Box(ModelStore(box.store.root, {"large": huge}, box.store.request_file), huge)
    crowded.fails = [StorageError("large needs 1 TB more on the disk.")] * 6
    assert crowded.download.run()
    assert crowded.waits == [AGAIN_S, 2 * AGAIN_S, 4 * AGAIN_S] + [MOST_AGAIN_S] * 3
    assert crowded.kinds == ["fetching", *["full"] * 6, "here"]


def test_the_state_of_an_awaited_model_is_a_sentence(box: Box) -> None:
    assert (
        awaited_sentence(box.store)
        == "large is awaited. Until it is here, pocket stands in for it."
    )
    files = {role: ModelFile(path=f.path, size=1 << 43) for role, f in box.model.files.items()}
    huge = msgspec.structs.replace(box.model, files=files)
    crowded = ModelStore(box.store.root, {"large": huge}, box.store.request_file)
    assert "no room for it" in awaited_sentence(crowded)
    box.store.request_file.write_text("larg")
    assert "no model `larg`" in awaited_sentence(box.store)
    box.store.request_file.unlink()
    assert awaited_sentence(box.store) == ""


def test_a_read_only_disk_is_not_reported_as_full(box: Box) -> None:
    box.fails = [StorageError("Read-only file system.")]
    assert box.download.run()
    assert box.kinds == ["fetching", "card", "here"]


def test_a_request_that_comes_during_a_fetch_is_served_before_the_end(box: Box) -> None:
    """Otherwise the removal of the request afterwards would remove one that is not fulfilled."""
    other = msgspec.structs.replace(box.model, name="other")
    store = ModelStore(box.store.root, {"large": box.model, "other": other}, box.store.request_file)
    fetched = []

    def fetch(model: CatalogueModel) -> None:
        fetched.append(model.name)
        put(store.folder(model))
        store.mark_complete(
            model, PinnedRevision("0" * 40, {f.path: f for f in model.files.values()})
        )
        if model.name == "large":
            store.request_file.write_text("other\n")

    assert BackgroundDownload(store, fetch, box.published.append, box.waits.append).run()
    assert fetched == ["large", "other"]


def test_a_model_that_a_stick_supplied_meanwhile_is_not_fetched(box: Box, tmp_path: Path) -> None:
    stick = put(tmp_path / "stick")
    box.fails = [FetchError("The hub cannot be reached.")] * 9
    download = BackgroundDownload(
        box.store, box.fetch, box.published.append, lambda _: copy(on_stick(stick, box.model)[0],
                                                              box.store, box.model),
    )  # fmt: skip
    assert not download.run()
    assert box.kinds == ["fetching", "away"]
    assert len(box.fails) == 8


@pytest.mark.parametrize("under", ["", "large", "models/large"])
def test_a_model_is_copied_from_a_stick(box: Box, tmp_path: Path, under: str) -> None:
    put(tmp_path / "stick" / under)
    assert box.download.copy_from_stick(tmp_path / "stick")
    assert box.store.state(box.model) == "installed"
    assert box.store.damage(box.model) == []
    assert box.kinds == ["found", "here"]


@pytest.mark.parametrize("which", ["text", "audio"])
def test_a_stick_with_wrong_bytes_is_refused_and_reported(
    box: Box, tmp_path: Path, which: str
) -> None:
    wrong = {which: bytes(len(TEXT if which == "text" else AUDIO))}
    put(tmp_path / "stick", **wrong)
    with pytest.raises(FetchError, match="not the file it is called"):
        box.download.copy_from_stick(tmp_path / "stick")
    assert box.kinds == ["found", "bad"]
    assert box.store.state(box.model) != "installed"
    assert awaited(box.store) is not None


def test_a_valid_stick_is_not_reported_as_bad_during_a_fetch(box: Box, tmp_path: Path) -> None:
    stick = put(tmp_path / "stick")
    with box.store.locked(box.model), pytest.raises(ModelBusy, match="Another process"):
        box.download.copy_from_stick(stick)
    assert box.kinds == []
    assert box.download.copy_from_stick(stick)
    assert box.kinds == ["found", "here"]


def test_a_concurrent_copy_is_not_reported_as_an_unreachable_hub(box: Box) -> None:
    box.fails = [ModelBusy("Another process is fetching large at this moment.")] * 2
    assert box.download.run()
    assert box.waits == [AGAIN_S] * 2
    assert box.kinds == ["fetching", "here"]


def test_a_stick_without_files_of_the_model_is_ignored(box: Box, tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick/holiday.jpg").write_bytes(TEXT)
    assert not box.download.copy_from_stick(tmp_path / "stick")
    assert box.published == []


@pytest.mark.parametrize(
    ("fill", "lacks"),
    [
        (lambda stick: put(stick, text=TEXT[:-1]), (0,)),
        (lambda stick: put(stick, text=TEXT[:-1], audio=b""), (0, 1)),
        (lambda stick: (put(stick) / "audio.gguf").unlink(), (1,)),
    ],
)
def test_an_incomplete_stick_is_reported_and_nothing_is_copied(
    box: Box, tmp_path: Path, fill: Callable[[Path], object], lacks: tuple[int, ...]
) -> None:
    fill(tmp_path / "stick")
    with pytest.raises(FetchError, match="only a part"):
        box.download.copy_from_stick(tmp_path / "stick")
    assert box.published == [DownloadNews("large", "part", lacks)]
    assert box.store.state(box.model) == "missing"
    assert awaited(box.store) is not None


def test_a_stick_that_is_removed_during_the_copy_is_named_as_the_reason(
    box: Box, tmp_path: Path
) -> None:
    stick = put(tmp_path / "stick")
    places, _ = on_stick(stick, box.model)
    places[next(iter(places))] = Path("/proc/self/mem")  # a file whose first byte cannot be read
    with pytest.raises(FetchError, match=r"on the stick cannot be read \(Input/output error\)"):
        copy(places, box.store, box.model)
    assert box.store.state(box.model) != "installed"
    assert box.download.copy_from_stick(stick)
    assert box.store.state(box.model) == "installed"


def test_a_model_without_known_checksums_is_not_copied_from_a_stick(
    box: Box, tmp_path: Path
) -> None:
    unknown = {role: ModelFile(path=f.path) for role, f in box.model.files.items()}
    model = msgspec.structs.replace(box.model, files=unknown)
    other = Box(ModelStore(box.store.root, {"large": model}, box.store.request_file), model)
    put(tmp_path / "stick")
    assert len(on_stick(tmp_path / "stick", model)[0]) == 2
    with pytest.raises(ModelError, match="checksums of large are unknown"):
        other.download.copy_from_stick(tmp_path / "stick")


@pytest.mark.parametrize("name", ["", "large\n\n", "pocket"])
def test_only_a_model_that_is_not_installed_is_awaited(box: Box, name: str) -> None:
    box.store.request_file.write_text(name)
    assert (awaited(box.store) == box.model) == (name.strip() == "large")


def test_an_unknown_name_is_an_error(box: Box) -> None:
    box.store.request_file.write_text("larg")
    with pytest.raises(InterludeError, match="no model `larg`"):
        awaited(box.store)
