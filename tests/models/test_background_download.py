"""A model that is to come: the shipped one stands in, the hub or a stick brings it, every byte
checked, and what the owner should know of it is told in kinds and no words."""

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
    """A store that awaits the model `large`, and what was told. `fails`: of the next fetches."""

    store: ModelStore
    model: CatalogueModel
    told: list[DownloadNews] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    fails: list[InterludeError] = field(default_factory=list)

    def fetch(self, model: CatalogueModel) -> None:
        if self.fails:
            raise self.fails.pop(0)
        put(self.store.folder(model))
        self.store.mark_complete(
            model, PinnedRevision("0" * 40, {f.path: f for f in model.files.values()})
        )

    @property
    def kinds(self) -> list[str]:
        assert {news.model for news in self.told} <= {self.model.name}
        return [news.kind for news in self.told]

    @property
    def errand(self) -> BackgroundDownload:
        return BackgroundDownload(self.store, self.fetch, self.told.append, self.waits.append)


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
    store.wish.write_text("large\n")
    return Box(store, model)


def test_it_is_fetched_and_told(box: Box) -> None:
    assert box.errand.run()
    assert box.store.state(box.model) == "installed"
    assert box.kinds == ["fetching", "here"]
    assert awaited(box.store) is None
    assert not box.errand.run()


def test_a_network_that_is_away_is_tried_again(box: Box) -> None:
    box.fails = [FetchError("The hub cannot be reached.")] * 3
    assert box.errand.run()
    assert box.waits == [AGAIN_S] * 3
    assert box.kinds == ["fetching", "away", "away", "away", "here"]


def test_a_full_card_is_a_state_of_its_own_and_is_tried_ever_more_rarely(box: Box) -> None:
    files = {role: ModelFile(path=f.path, size=1 << 60) for role, f in box.model.files.items()}
    huge = msgspec.structs.replace(box.model, files=files)
    crowded = Box(ModelStore(box.store.root, {"large": huge}, box.store.wish), huge)
    crowded.fails = [StorageError("large needs 1 EB more on the disk.")] * 6
    assert crowded.errand.run()
    assert crowded.waits == [AGAIN_S, 2 * AGAIN_S, 4 * AGAIN_S] + [MOST_AGAIN_S] * 3
    assert crowded.kinds == ["fetching", *["full"] * 6, "here"]


def test_how_an_awaited_model_stands_can_be_read(box: Box) -> None:
    assert (
        awaited_sentence(box.store)
        == "large is awaited. Until it is here, pocket stands in for it."
    )
    files = {role: ModelFile(path=f.path, size=1 << 60) for role, f in box.model.files.items()}
    huge = msgspec.structs.replace(box.model, files=files)
    crowded = ModelStore(box.store.root, {"large": huge}, box.store.wish)
    assert "no room for it" in awaited_sentence(crowded)
    box.store.wish.write_text("larg")
    assert "no model `larg`" in awaited_sentence(box.store)
    box.store.wish.unlink()
    assert awaited_sentence(box.store) == ""


def test_a_card_that_cannot_be_written_is_not_called_full(box: Box) -> None:
    box.fails = [StorageError("Read-only file system.")]
    assert box.errand.run()
    assert box.kinds == ["fetching", "card", "here"]


def test_another_wish_that_comes_meanwhile_is_seen_to_before_it_ends(box: Box) -> None:
    """So that whoever takes the wish away afterwards takes away none that is open."""
    other = msgspec.structs.replace(box.model, name="other")
    store = ModelStore(box.store.root, {"large": box.model, "other": other}, box.store.wish)
    fetched = []

    def fetch(model: CatalogueModel) -> None:
        fetched.append(model.name)
        put(store.folder(model))
        store.mark_complete(
            model, PinnedRevision("0" * 40, {f.path: f for f in model.files.values()})
        )
        if model.name == "large":
            store.wish.write_text("other\n")

    assert BackgroundDownload(store, fetch, box.told.append, box.waits.append).run()
    assert fetched == ["large", "other"]


def test_a_model_that_a_stick_brought_meanwhile_is_not_fetched(box: Box, tmp_path: Path) -> None:
    stick = put(tmp_path / "stick")
    box.fails = [FetchError("The hub cannot be reached.")] * 9
    errand = BackgroundDownload(
        box.store, box.fetch, box.told.append, lambda _: copy(on_stick(stick, box.model)[0],
                                                              box.store, box.model),
    )  # fmt: skip
    assert not errand.run()
    assert box.kinds == ["fetching", "away"]
    assert len(box.fails) == 8


@pytest.mark.parametrize("under", ["", "large", "models/large"])
def test_it_may_come_on_a_stick(box: Box, tmp_path: Path, under: str) -> None:
    put(tmp_path / "stick" / under)
    assert box.errand.copy_from_stick(tmp_path / "stick")
    assert box.store.state(box.model) == "installed"
    assert box.store.damage(box.model) == []
    assert box.kinds == ["found", "here"]


@pytest.mark.parametrize("which", ["text", "audio"])
def test_a_stick_with_other_bytes_is_refused_and_said(box: Box, tmp_path: Path, which: str) -> None:
    wrong = {which: bytes(len(TEXT if which == "text" else AUDIO))}
    put(tmp_path / "stick", **wrong)
    with pytest.raises(FetchError, match="not the file it is called"):
        box.errand.copy_from_stick(tmp_path / "stick")
    assert box.kinds == ["found", "bad"]
    assert box.store.state(box.model) != "installed"
    assert awaited(box.store) is not None


def test_a_right_stick_is_not_called_bad_while_the_hub_brings_the_same(
    box: Box, tmp_path: Path
) -> None:
    stick = put(tmp_path / "stick")
    with box.store.locked(box.model), pytest.raises(ModelBusy, match="Another process"):
        box.errand.copy_from_stick(stick)
    assert box.kinds == []
    assert box.errand.copy_from_stick(stick)
    assert box.kinds == ["found", "here"]


def test_while_a_stick_brings_it_the_network_is_not_said_to_be_away(box: Box) -> None:
    box.fails = [ModelBusy("Another process is fetching large at this moment.")] * 2
    assert box.errand.run()
    assert box.waits == [AGAIN_S] * 2
    assert box.kinds == ["fetching", "here"]


def test_a_stick_without_any_of_it_is_left_alone(box: Box, tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick/holiday.jpg").write_bytes(TEXT)
    assert not box.errand.copy_from_stick(tmp_path / "stick")
    assert box.told == []


@pytest.mark.parametrize(
    ("fill", "lacks"),
    [
        (lambda stick: put(stick, text=TEXT[:-1]), (0,)),
        (lambda stick: put(stick, text=TEXT[:-1], audio=b""), (0, 1)),
        (lambda stick: (put(stick) / "audio.gguf").unlink(), (1,)),
    ],
)
def test_a_stick_with_a_part_of_it_is_said_so_and_nothing_is_copied(
    box: Box, tmp_path: Path, fill: Callable[[Path], object], lacks: tuple[int, ...]
) -> None:
    fill(tmp_path / "stick")
    with pytest.raises(FetchError, match="only a part"):
        box.errand.copy_from_stick(tmp_path / "stick")
    assert box.told == [DownloadNews("large", "part", lacks)]
    assert box.store.state(box.model) == "missing"
    assert awaited(box.store) is not None


def test_a_stick_that_is_pulled_out_is_named_as_the_reason_and_nothing_is_taken(
    box: Box, tmp_path: Path
) -> None:
    stick = put(tmp_path / "stick")
    places, _ = on_stick(stick, box.model)
    places[next(iter(places))] = Path("/proc/self/mem")  # a file whose first byte cannot be read
    with pytest.raises(FetchError, match=r"on the stick cannot be read \(Input/output error\)"):
        copy(places, box.store, box.model)
    assert box.store.state(box.model) != "installed"
    assert box.errand.copy_from_stick(stick)
    assert box.store.state(box.model) == "installed"


def test_a_model_whose_checksums_nobody_knows_comes_from_no_stick(box: Box, tmp_path: Path) -> None:
    unknown = {role: ModelFile(path=f.path) for role, f in box.model.files.items()}
    model = msgspec.structs.replace(box.model, files=unknown)
    other = Box(ModelStore(box.store.root, {"large": model}, box.store.wish), model)
    put(tmp_path / "stick")
    assert len(on_stick(tmp_path / "stick", model)[0]) == 2
    with pytest.raises(ModelError, match="checksums of large are unknown"):
        other.errand.copy_from_stick(tmp_path / "stick")


@pytest.mark.parametrize("name", ["", "large\n\n", "pocket"])
def test_what_is_awaited_is_a_model_that_is_not_here(box: Box, name: str) -> None:
    box.store.wish.write_text(name)
    assert (awaited(box.store) == box.model) == (name.strip() == "large")


def test_a_name_that_is_none_is_a_sentence(box: Box) -> None:
    box.store.wish.write_text("larg")
    with pytest.raises(InterludeError, match="no model `larg`"):
        awaited(box.store)
