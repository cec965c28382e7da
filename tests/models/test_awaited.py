"""A model that is to come: the shipped one stands in, the hub or a stick brings it, every byte
checked, and the box begins anew with it when nobody talks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from appliance.errors import FetchError, InterludeError, ModelError
from appliance.models import catalogue
from appliance.models.awaited import AGAIN_S, Errand, awaited, copy, on_stick
from appliance.models.catalogue import Model, ModelFile
from appliance.models.store import Pin, Store, resolve
from appliance.settings import load

TEXT, AUDIO = b"text" * 1000, b"audio" * 700


def large() -> Model:
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
    """A store that awaits the model `large`, and who is told what."""

    store: Store
    model: Model
    said: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    restarts: int = 0
    talks: int = 0  # looks at which somebody still talks
    failures: int = 0

    def fetch(self, model: Model) -> None:
        if self.failures:
            self.failures -= 1
            raise FetchError("The hub cannot be reached.")
        put(self.store.folder(model))
        self.store.finish(model, Pin("0" * 40, {f.path: f for f in model.files.values()}))

    def talking(self) -> bool:
        self.talks -= 1
        return self.talks >= 0

    def restart(self) -> None:
        self.restarts += 1

    @property
    def errand(self) -> Errand:
        return Errand(
            self.store, self.fetch, self.said.append, self.talking, self.restart, self.waits.append
        )


def put(folder: Path, text: bytes = TEXT, audio: bytes = AUDIO) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.gguf").write_bytes(text)
    (folder / "audio.gguf").write_bytes(audio)
    return folder


@pytest.fixture
def box(tmp_path: Path) -> Box:
    model = large()
    models = {"large": model, "pocket": catalogue.find("pocket")}
    store = Store(tmp_path / "models", models, tmp_path / "model-wanted")
    store.root.mkdir()
    store.wish.write_text("large\n")
    return Box(store, model)


def test_it_is_fetched_and_said_and_the_box_begins_anew(box: Box) -> None:
    assert box.errand.run()
    assert box.store.state(box.model) == "installed"
    assert box.restarts == 1
    assert "fetching" in box.said[0]
    assert "is here" in box.said[-1]
    assert awaited(box.store) is None
    assert not box.errand.run()


def test_a_network_that_is_away_is_said_once_and_tried_again(box: Box) -> None:
    box.failures = 3
    assert box.errand.run()
    assert box.waits == [AGAIN_S] * 3
    assert sum("I cannot fetch" in sentence for sentence in box.said) == 1


def test_nobody_is_interrupted_by_the_new_beginning(box: Box) -> None:
    box.talks = 4
    box.errand.run()
    assert len(box.waits) == 4
    assert box.restarts == 1


@pytest.mark.parametrize("under", ["", "large", "models/large"])
def test_it_may_come_on_a_stick(box: Box, tmp_path: Path, under: str) -> None:
    put(tmp_path / "stick" / under)
    assert box.errand.take(tmp_path / "stick")
    assert box.store.state(box.model) == "installed"
    assert box.store.damage(box.model) == []
    assert box.restarts == 1


@pytest.mark.parametrize("which", ["text", "audio"])
def test_a_stick_with_other_bytes_is_refused_and_said(box: Box, tmp_path: Path, which: str) -> None:
    wrong = {which: bytes(len(TEXT if which == "text" else AUDIO))}
    put(tmp_path / "stick", **wrong)
    with pytest.raises(FetchError, match="not the file it is called"):
        box.errand.take(tmp_path / "stick")
    assert "cannot be used" in box.said[-1]
    assert box.store.state(box.model) != "installed"
    assert box.restarts == 0
    assert awaited(box.store) is not None


def test_a_stick_without_any_of_it_is_left_alone(box: Box, tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick/holiday.jpg").write_bytes(TEXT)
    assert not box.errand.take(tmp_path / "stick")
    assert box.said == []


@pytest.mark.parametrize(
    ("fill", "lacks"),
    [
        (lambda stick: put(stick, text=TEXT[:-1]), "text.gguf is not"),
        (lambda stick: put(stick, text=TEXT[:-1], audio=b""), "text.gguf and audio.gguf are not"),
        (lambda stick: (put(stick) / "audio.gguf").unlink(), "audio.gguf is not"),
    ],
)
def test_a_stick_with_a_part_of_it_is_said_so_and_nothing_is_copied(
    box: Box, tmp_path: Path, fill: Callable[[Path], object], lacks: str
) -> None:
    fill(tmp_path / "stick")
    with pytest.raises(FetchError, match=lacks):
        box.errand.take(tmp_path / "stick")
    assert len(box.said) == 1
    assert lacks in box.said[0]
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
    assert box.errand.take(stick)
    assert box.store.state(box.model) == "installed"


def test_a_model_whose_checksums_nobody_knows_comes_from_no_stick(box: Box, tmp_path: Path) -> None:
    unknown = {role: ModelFile(path=f.path) for role, f in box.model.files.items()}
    model = msgspec.structs.replace(box.model, files=unknown)
    other = Box(Store(box.store.root, {"large": model}, box.store.wish), model)
    put(tmp_path / "stick")
    assert len(on_stick(tmp_path / "stick", model)[0]) == 2
    with pytest.raises(ModelError, match="Nobody knows"):
        other.errand.take(tmp_path / "stick")


@pytest.mark.parametrize("name", ["", "large\n\n", "pocket"])
def test_what_is_awaited_is_a_model_that_is_not_here(box: Box, name: str) -> None:
    box.store.wish.write_text(name)
    assert (awaited(box.store) == box.model) == (name.strip() == "large")


def test_a_name_that_is_none_is_a_sentence(box: Box) -> None:
    box.store.wish.write_text("larg")
    with pytest.raises(InterludeError, match="no model `larg`"):
        awaited(box.store)


def test_the_shipped_model_stands_in_only_for_one_that_is_awaited(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path), "thinking": {"model": "gemma-4-e2b"}})
    wish = tmp_path / "model-wanted"
    with pytest.raises(ModelError, match="not on this box"):
        resolve(settings, wish)
    wish.write_text("gemma-4-e2b\n")
    assert resolve(settings, wish).name == "pocket"
    wish.write_text("gemma-4-e4b\n")
    with pytest.raises(ModelError):
        resolve(settings, wish)
