"""An encoder is fetched whole and kept in part: by the hub, a stick, another box; again, anew, and
where there is no room."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from appliance.cli import models
from appliance.errors import FetchError, ModelError, StorageError
from appliance.models import catalogue
from appliance.models.background_download import copy, on_stick
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.disk_space import missing_bytes
from appliance.models.fetcher import ModelFetcher
from appliance.models.hub import ModelHub
from appliance.models.relay import ModelRelay, list_models
from appliance.models.store import ModelStore
from appliance.runtime.free_space import SPARE_BYTES
from appliance.settings import load
from tests.models import encoder
from tests.models.hub_server import COMMIT, REPOSITORY, HubServer
from tests.models.test_fetcher import Watcher

TEXT = b"text" * 1000
WHOLE, PART = "mmproj.gguf", "audio-part.gguf"


@dataclass
class Box:
    """`free`: bytes of room. What a fetch asked the hub for is in `hub.requests`."""

    store: ModelStore
    hub: HubServer
    model: CatalogueModel
    whole: bytes
    free: int = 1 << 40

    def fetch(self, form: Form | None = None) -> Watcher:
        watcher = Watcher()
        hub = ModelHub(self.hub.endpoint)
        ModelFetcher(self.store, hub, watcher, lambda _: self.free, watcher.waits_s.append).fetch(
            self.model, form
        )
        return watcher

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.store.folder(self.model).iterdir()}

    @property
    def part(self) -> Path:
        return self.store.folder(self.model) / PART

    def bodies(self) -> list[str]:
        """Files whose bytes were asked for since the last call."""
        asked = [path.rpartition("/")[2] for verb, path, _ in self.hub.requests if verb == "GET"]
        self.hub.requests.clear()
        return asked


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
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
    store.wish.write_text("large\n")
    with HubServer({path: data for path, data, _ in files.values()}) as server:
        yield Box(store, server, model, whole)


def test_the_part_stays_the_whole_goes_and_the_model_is_installed(box: Box) -> None:
    watcher = box.fetch()
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}
    assert box.store.state(box.model) == "installed"
    assert box.store.language_model("large").audio == box.part
    assert box.store.form(box.model) == "f16"
    assert box.store.damage(box.model) == []
    assert box.bodies() == [WHOLE, "text.gguf"]  # so that the whole is gone when the rest comes
    assert (f"audio part of {WHOLE}", 0) in {(name, at) for name, at, _ in watcher.begun}
    assert box.part.stat().st_size < len(box.whole)


def test_damage_to_the_part_is_found_and_only_the_encoder_is_fetched_again(box: Box) -> None:
    box.fetch()
    box.bodies()
    whole = box.part.read_bytes()
    box.part.write_bytes(whole[:-1] + b"?")
    assert box.store.damage(box.model) == [
        f"{box.part} does not have the checksum it was fetched with."
    ]
    box.store.forget_whole(box.model)
    box.fetch()
    assert box.bodies() == [WHOLE]
    assert box.part.read_bytes() == whole  # made anew, it is the same to the byte


def test_a_part_that_is_here_is_not_made_again_when_something_else_is_missing(box: Box) -> None:
    box.fetch()
    box.bodies()
    (box.store.folder(box.model) / "text.gguf").unlink()
    was = box.part.stat().st_mtime_ns
    box.fetch()
    assert box.bodies() == ["text.gguf"]
    assert box.part.stat().st_mtime_ns == was
    assert box.store.state(box.model) == "installed"


def test_a_making_that_was_cut_off_begins_again_without_the_hub(box: Box) -> None:
    folder = box.store.folder(box.model)
    folder.mkdir()
    (folder / WHOLE).write_bytes(box.whole)  # fetched and verified
    (folder / f"{PART}.partial").write_bytes(b"half a part")
    assert box.store.state(box.model) == "partial"
    box.fetch()
    assert box.bodies() == ["text.gguf"]
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}


def test_wrong_bytes_are_never_made_a_part_of(box: Box) -> None:
    box.hub.serves[f"sub/{WHOLE}"] = b"x" + box.whole[1:]
    with pytest.raises(FetchError, match=r"SHA-256 .* instead of"):
        box.fetch()
    assert box.names == set()


def test_an_encoder_without_an_audio_part_is_said_and_nothing_is_put_in_its_place(box: Box) -> None:
    no_encoder = b"GGUF" + bytes(len(box.whole) - 4)
    file = box.model.files["audio"]
    sha256 = hashlib.sha256(no_encoder).hexdigest()
    files = {**box.model.files, "audio": msgspec.structs.replace(file, sha256=sha256)}
    box.model = msgspec.structs.replace(box.model, files=files)
    box.hub.files[f"sub/{WHOLE}"] = no_encoder
    with pytest.raises(ModelError, match="not a GGUF file"):
        box.fetch()
    assert not {PART, f"{PART}.partial", "audio-part.json", "whole.json"} & box.names


def test_room_for_the_whole_beside_its_part_is_asked_for_before_a_byte(box: Box) -> None:
    need = 2 * len(box.whole)  # more than text and part take afterwards
    assert missing_bytes(box.store, box.model, {}) == 0
    box.free = need + SPARE_BYTES - 1
    with pytest.raises(StorageError, match=r"needs .* more on the disk"):
        box.fetch()
    assert box.bodies() == []
    box.free = need + SPARE_BYTES
    box.fetch()
    assert box.store.state(box.model) == "installed"


def test_an_owner_may_choose_q8_0_later_without_the_hub_and_take_it_back(box: Box) -> None:
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


def test_q8_0_is_offered_with_the_word_that_nobody_has_judged_it(box: Box, tmp_path: Path) -> None:
    settings = load(None, {"models_dir": str(tmp_path / "owners")})
    out = io.StringIO()
    code = models.cli_fetch(
        settings, "gemma-4-e2b", "q8_0", console=Console(file=out, width=200), ask=lambda _: "n"
    )
    assert code == models.DECLINED
    assert "Nobody has judged it on real speech" in out.getvalue()
    with pytest.raises(FetchError, match="no audio encoder"):
        models.cli_fetch(settings, "ljspeech", "q8_0", ask=lambda _: "n")


# ── a stick, and another box ─────────────────────────────────────────────────────────────────
def test_from_a_stick_too_only_the_part_stays(box: Box, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "text.gguf").write_bytes(TEXT)
    (stick / WHOLE).write_bytes(box.whole)
    places, halves = on_stick(stick, box.model)
    assert halves == []
    copy(places, box.store, box.model)
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}
    assert box.store.state(box.model) == "installed"
    assert box.store.damage(box.model) == []
    assert (stick / WHOLE).read_bytes() == box.whole


def test_what_another_box_hands_over_is_kept_in_part(box: Box) -> None:
    relay = ModelRelay(box.store)
    for name, data in (("text.gguf", TEXT), (WHOLE, box.whole)):
        relay.receive("large", name, 0, io.BytesIO(data))
    relay.install("large")
    assert box.names == {"text.gguf", PART, "audio-part.json", "whole.json"}
    assert box.store.damage(box.model) == []
    assert [
        (file.name, file.have == file.size) for file in list_models(box.store).models[0].files
    ] == [("text.gguf", True), (WHOLE, True)]


def test_a_box_that_keeps_the_part_hands_the_whole_on_from_the_hub(box: Box) -> None:
    box.fetch()
    box.bodies()
    relay = ModelRelay(box.store, box.hub.endpoint)
    given = b"".join(relay.give("large", WHOLE, 0, 1 << 30))
    assert base64.b64decode(given) == box.whole
    assert box.bodies() == [WHOLE]
