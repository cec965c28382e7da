"""Models relayed by a person: chunks from one box are written to another one, and only files with
the checksum of the catalogue are installed."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import FetchError, ModelError, StorageError
from appliance.models.relay import ModelRelay, list_models
from tests.models.hub_server import HubServer
from tests.models.relay_box import AUDIO, TEXT, box, brought, full_box, model


def given(relay: ModelRelay, name: str, at: int, most: int) -> bytes:
    return base64.b64decode(b"".join(relay.give("some", name, at, most)), validate=True)


@pytest.fixture
def full(tmp_path: Path) -> ModelRelay:
    """A box on which the model is installed."""
    return full_box(tmp_path / "full")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer({"text.gguf": TEXT, "sub/audio.gguf": AUDIO}) as server:
        yield server


def test_a_model_is_transferred_between_boxes_in_chunks(full: ModelRelay, tmp_path: Path) -> None:
    other = box(tmp_path / "other")
    for name, data in (("text.gguf", TEXT), ("audio.gguf", AUDIO)):
        have = 0
        while have < len(data):
            have = brought(other, name, given(full, name, have, 1_000_003), have)
    assert other.store.state(other.store.models["some"]) == "partial"
    other.install("some")
    transferred = other.store.models["some"]
    assert other.store.state(transferred) == "installed"
    assert other.store.damage(transferred) == []
    assert other.store.path(transferred, transferred.files["text"]).read_bytes() == TEXT
    other.install("some")  # a second time: nothing to do


@pytest.mark.parametrize("ranges", [True, False])
def test_a_box_without_the_model_relays_the_hubs_bytes_and_keeps_none(
    tmp_path: Path, hub: HubServer, ranges: bool
) -> None:
    hub.ranges = ranges
    relay = ModelRelay(box(tmp_path / "empty").store, hub.endpoint)
    received = b""
    while piece := given(relay, "text.gguf", len(received), 1_400_000):
        received += piece
    assert received == TEXT
    assert list((tmp_path / "empty").iterdir()) == []


def test_an_unreachable_hub_is_reported(tmp_path: Path, hub: HubServer) -> None:
    hub.statuses = [503]
    relay = ModelRelay(box(tmp_path / "empty").store, hub.endpoint)
    with pytest.raises(FetchError, match="cannot be reached"):
        given(relay, "text.gguf", 0, 10)


def test_an_interrupted_transfer_is_resumed(tmp_path: Path) -> None:
    relay = box(tmp_path / "box")
    assert brought(relay, "text.gguf", TEXT[:1000]) == 1000
    (row,) = list_models(relay.store).models
    assert [(file.name, file.have) for file in row.files] == [
        ("text.gguf", 1000),
        ("audio.gguf", 0),
    ]
    with pytest.raises(FetchError, match="1000 bytes here, not 0"):
        brought(relay, "text.gguf", TEXT)
    with pytest.raises(FetchError, match="is incomplete"):
        relay.install("some")
    assert brought(relay, "text.gguf", TEXT[1000:], 1000) == len(TEXT)


def test_wrong_bytes_are_never_installed(tmp_path: Path) -> None:
    relay = box(tmp_path / "box")
    brought(relay, "text.gguf", TEXT)
    brought(relay, "audio.gguf", AUDIO[:-1] + b"!")
    with pytest.raises(FetchError, match="is not the file it is called"):
        relay.install("some")
    (row,) = list_models(relay.store).models
    assert row.state == "partial"
    assert [file.have for file in row.files] == [len(TEXT), 0]
    brought(relay, "audio.gguf", AUDIO)
    relay.install("some")
    assert relay.store.state(relay.store.models["some"]) == "installed"


def test_bytes_beyond_the_size_are_refused_and_an_oversized_partial_file_is_replaced(
    tmp_path: Path,
) -> None:
    relay = box(tmp_path / "box")
    with pytest.raises(FetchError, match="than its 1000 bytes"):
        brought(relay, "audio.gguf", AUDIO + b"!")
    folder = tmp_path / "box/some"
    (folder / "audio.gguf.partial").write_bytes(b"x" * 5000)
    assert brought(relay, "audio.gguf", AUDIO) == len(AUDIO)


def test_missing_space_is_reported_before_anything_is_written(tmp_path: Path) -> None:
    relay = box(tmp_path / "box", free=(256 << 20) + len(TEXT))
    with pytest.raises(StorageError, match="no room for some: 1 MB are missing"):
        brought(relay, "text.gguf", TEXT)
    assert not (tmp_path / "box/some/text.gguf.partial").exists()
    relay = box(tmp_path / "box", free=(256 << 20) + len(TEXT) + len(AUDIO))
    assert brought(relay, "text.gguf", TEXT) == len(TEXT)


def test_a_running_fetch_is_not_disturbed(tmp_path: Path) -> None:
    relay = box(tmp_path / "box")
    with (
        relay.store.locked(model()),
        pytest.raises(FetchError, match="Another process is fetching"),
    ):
        brought(relay, "text.gguf", TEXT)


@pytest.mark.parametrize(
    ("name", "file", "why"),
    [("none", "text.gguf", "no model `none`"), ("some", "../text.gguf", "has no file"),
     ("some", "whole.json", "has no file")],
)  # fmt: skip
def test_only_files_of_the_catalogue_are_sent_and_received(
    full: ModelRelay, name: str, file: str, why: str
) -> None:
    with pytest.raises(ModelError, match=why):
        list(full.give(name, file, 0, 10))
    with pytest.raises(ModelError, match=why):
        full.receive(name, file, 0, io.BytesIO(b"x"))


def test_a_model_without_checksums_is_not_received(tmp_path: Path) -> None:
    relay = box(tmp_path / "box", model(audio=None))
    with pytest.raises(ModelError, match="checksums of some are unknown"):
        brought(relay, "text.gguf", TEXT)
