"""An encoder is fetched completely and kept in part, from the hub, a stick or another box. Covers
repairs, changes of the format and missing disk space."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from appliance.cli import models
from appliance.errors import FetchError, ModelError, StorageError
from appliance.models import catalogue
from appliance.models.acceptance import accept_all
from appliance.models.background_download import copy, on_stick
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.disk_space import missing_bytes
from appliance.models.fetcher import ModelFetcher
from appliance.models.hub import ModelHub
from appliance.models.relay import ModelRelay, list_models
from appliance.models.store import DROP, ModelStore
from appliance.runtime.free_space import SPARE_BYTES
from appliance.settings import load
from tests.models import encoder
from tests.models.hub_server import COMMIT, REPOSITORY, HubServer
from tests.models.test_fetcher import Watcher

TEXT = b"text" * 1000
WHOLE, PART = "mmproj.gguf", "audio-part.gguf"


@dataclass
class Box:
    """`free`: the free bytes of the disk. `hub.requests` records the requests of a fetch."""

    store: ModelStore
    hub: HubServer
    model: CatalogueModel
    whole: bytes
    free: int = 1 << 40
    accepted: list[str] = field(default_factory=list)

    def fetch(self, form: Form | None = None) -> Watcher:
        watcher = Watcher()
        hub = ModelHub(self.hub.endpoint)
        ModelFetcher(self.store, hub, watcher, lambda _: self.free, self.sleep).fetch(
            self.model, form
        )
        return watcher

    def sleep(self, _: float) -> None:
        """Root's program runs while a fetch waits for it."""
        self.accepted += accept_all(self.store)

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.store.folder(self.model).glob("*")}

    @property
    def part(self) -> Path:
        return self.store.folder(self.model) / PART

    def bodies(self) -> list[str]:
        """The files whose bytes were requested since the last call."""
        requested = [
            path.rpartition("/")[2] for verb, path, _ in self.hub.requests if verb == "GET"
        ]
        self.hub.requests.clear()
        return requested


@pytest.fixture(params=["in place", "handed over"])
def box(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Box]:
    """A fetch that puts the files in place, and one that hands them to root."""
    whole = encoder.write(tmp_path / "source.gguf").read_bytes()
    files = {"text": ("text.gguf", TEXT, None), "audio": (f"sub/{WHOLE}", whole, "f16")}
    model = msgspec.structs.replace(
        catalogue.find("gemma-4-e2b"), name="large", repository=REPOSITORY, revision=COMMIT,
        files={
            role: msgspec.convert(
                {"path": path, "size": len(data), "part": part,
                 "sha256": hashlib.sha256(data).hexdigest()}, ModelFile,
            ) for role, (path, data, part) in files.items()
        },
    )  # fmt: skip
    store = ModelStore(tmp_path / "models", {"large": model}, tmp_path / "wanted")
    store.root.mkdir()
    if request.param == "handed over":
        (store.root / DROP).mkdir()
    store.request_file.write_text("large\n")
    with HubServer({path: data for path, data, _ in files.values()}) as server:
        yield Box(store, server, model, whole)


def test_the_part_is_kept_the_source_deleted_and_the_model_installed(box: Box) -> None:
    watcher = box.fetch()
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}
    assert box.store.state(box.model) == "installed"
    assert box.store.language_model("large").audio == box.part
    assert box.store.form(box.model) == "f16"
    assert box.store.damage(box.model) == []
    assert box.bodies() == [WHOLE, "text.gguf"]  # the source is deleted before the rest arrives
    if not box.store.hands_over:  # else root makes it
        assert (f"audio part of {WHOLE}", 0) in {(name, at) for name, at, _ in watcher.started}
    assert box.part.stat().st_size < len(box.whole)


def test_a_damaged_part_is_detected_and_only_the_encoder_is_fetched_again(box: Box) -> None:
    box.fetch()
    box.bodies()
    intact = box.part.read_bytes()
    box.part.write_bytes(intact[:-1] + b"?")
    assert box.store.damage(box.model) == [
        f"{box.part} does not have the checksum it was fetched with."
    ]
    box.store.forget_whole(box.model)
    box.fetch()
    assert box.bodies() == [WHOLE]
    assert box.part.read_bytes() == intact  # making the part is reproducible


def test_an_existing_part_is_not_made_again_when_another_file_is_missing(box: Box) -> None:
    box.fetch()
    box.bodies()
    (box.store.folder(box.model) / "text.gguf").unlink()
    made_ns = box.part.stat().st_mtime_ns
    box.fetch()
    assert box.bodies() == ["text.gguf"]
    assert box.part.stat().st_mtime_ns == made_ns
    assert box.store.state(box.model) == "installed"


def test_an_interrupted_extraction_is_repeated_without_the_hub(box: Box) -> None:
    folder = box.store.dropped(box.model)
    folder.mkdir()
    (folder / WHOLE).write_bytes(box.whole)  # fetched and verified
    (folder / f"{PART}.partial").write_bytes(b"half a part")
    assert box.store.state(box.model) == "partial"
    box.fetch()
    assert box.bodies() == ["text.gguf"]
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}


def test_no_part_is_made_from_wrong_bytes(box: Box) -> None:
    box.hub.serves[f"sub/{WHOLE}"] = b"x" + box.whole[1:]
    with pytest.raises(FetchError, match=r"SHA-256 .* instead of"):
        box.fetch()
    assert box.names == set()


def test_an_encoder_without_an_audio_part_is_an_error_and_leaves_no_part(box: Box) -> None:
    no_encoder = b"GGUF" + bytes(len(box.whole) - 4)
    file = box.model.files["audio"]
    sha256 = hashlib.sha256(no_encoder).hexdigest()
    files = {**box.model.files, "audio": msgspec.structs.replace(file, sha256=sha256)}
    box.model = msgspec.structs.replace(box.model, files=files)
    box.store.models["large"] = box.model
    box.hub.files[f"sub/{WHOLE}"] = no_encoder
    with pytest.raises((ModelError, FetchError), match=r"not a GGUF file|was not accepted"):
        box.fetch()
    assert not box.accepted or "not a GGUF file" in box.accepted[0]
    assert not {PART, f"{PART}.partial", "audio-part.json", "whole.json"} & box.names


def test_space_for_the_source_beside_its_part_is_checked_before_the_download(box: Box) -> None:
    need = 2 * len(box.whole)  # more than text and part take in the end
    assert missing_bytes(box.store, box.model, {}) == 0
    box.free = need + SPARE_BYTES - 1
    with pytest.raises(StorageError, match=r"needs .* more on the disk"):
        box.fetch()
    assert box.bodies() == []
    box.free = need + SPARE_BYTES
    box.fetch()
    assert box.store.state(box.model) == "installed"


def test_q8_0_can_be_chosen_later_without_the_hub_and_undone(box: Box) -> None:
    box.fetch()
    box.bodies()
    large = box.part.read_bytes()
    box.fetch("q8_0")
    assert box.bodies() == []
    assert box.part.stat().st_size < 0.75 * len(large)
    assert box.store.form(box.model) == "q8_0"
    assert box.store.damage(box.model) == []
    box.fetch("f16")
    assert box.bodies() == [WHOLE]
    assert box.part.read_bytes() == large
    assert box.store.form(box.model) == "f16"


def test_q8_0_is_offered_with_the_note_that_it_was_not_evaluated(box: Box, tmp_path: Path) -> None:
    settings = load(None, {"models_dir": str(tmp_path / "owners")})
    out = io.StringIO()
    code = models.cli_fetch(
        settings, "gemma-4-e2b", "q8_0", console=Console(file=out, width=200), ask=lambda _: "n"
    )
    assert code == models.DECLINED
    assert "Nobody has judged it on real speech" in out.getvalue()
    with pytest.raises(FetchError, match="no audio encoder"):
        models.cli_fetch(settings, "ljspeech", "q8_0", ask=lambda _: "n")


# ── stick and other boxes ────────────────────────────────────────────────────────────────────
def test_from_a_stick_too_only_the_part_is_kept(box: Box, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "text.gguf").write_bytes(TEXT)
    (stick / WHOLE).write_bytes(box.whole)
    places, halves = on_stick(stick, box.model)
    assert halves == []
    copy(places, box.store, box.model, sleep=box.sleep)
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}
    assert box.store.state(box.model) == "installed"
    assert box.store.damage(box.model) == []
    assert (stick / WHOLE).read_bytes() == box.whole


def test_an_encoder_received_from_another_box_is_kept_in_part(box: Box) -> None:
    relay = ModelRelay(box.store, sleep=box.sleep)
    for name, data in (("text.gguf", TEXT), (WHOLE, box.whole)):
        relay.receive("large", name, 0, io.BytesIO(data))
    relay.install("large")
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}
    assert box.store.damage(box.model) == []
    assert [
        (file.name, file.have == file.size) for file in list_models(box.store).models[0].files
    ] == [("text.gguf", True), (WHOLE, True)]


def test_an_installed_file_is_relayed_from_the_disk(box: Box) -> None:
    box.fetch()
    box.bodies()
    relay = ModelRelay(box.store, box.hub.endpoint)
    assert base64.b64decode(b"".join(relay.give("large", "text.gguf", 5, 1 << 30))) == TEXT[5:]
    assert box.bodies() == []


def test_a_box_that_keeps_the_part_relays_the_source_from_the_hub(box: Box) -> None:
    box.fetch()
    box.bodies()
    relay = ModelRelay(box.store, box.hub.endpoint)
    given = b"".join(relay.give("large", WHOLE, 0, 1 << 30))
    assert base64.b64decode(given) == box.whole
    assert box.bodies() == [WHOLE]
