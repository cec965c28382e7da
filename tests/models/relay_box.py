"""Boxes to which a model is transferred by hand, in chunks."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.relay import ModelRelay
from appliance.models.store import ModelStore
from tests.models.hub_server import REPOSITORY

TEXT, AUDIO = os.urandom(3_000_001), os.urandom(1_000)
PLENTY = 1 << 40


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def model(**changes: str | None) -> CatalogueModel:
    known = {"text": sha256(TEXT), "audio": sha256(AUDIO), **changes}
    return CatalogueModel(
        name="some", kind="language", about="", repository=REPOSITORY, licence="MIT",
        licence_url="",
        files={
            "text": ModelFile(path="text.gguf", size=len(TEXT), sha256=known["text"]),
            "audio": ModelFile(path="sub/audio.gguf", size=len(AUDIO), sha256=known["audio"]),
        },
    )  # fmt: skip


def box(root: Path, row: CatalogueModel | None = None, free: int = PLENTY) -> ModelRelay:
    root.mkdir(exist_ok=True)
    return ModelRelay(
        ModelStore(root, {"some": row or model()}, root / "wanted"), free_bytes=lambda _: free
    )


def brought(relay: ModelRelay, name: str, data: bytes, at: int = 0) -> int:
    return relay.receive("some", name, at, io.BytesIO(data))


def full_box(root: Path) -> ModelRelay:
    """A box on which the model is installed."""
    relay = box(root)
    brought(relay, "text.gguf", TEXT)
    brought(relay, "audio.gguf", AUDIO)
    relay.install("some")
    return relay
