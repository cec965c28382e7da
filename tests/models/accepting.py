"""A box as root and the user that fetches see it, with a small model of the catalogue."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from appliance.models import catalogue
from appliance.models.acceptance import accept_all
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.placement import READY
from appliance.models.store import DROP, ModelStore
from tests.models import encoder

TEXT, STRANGER = b"text" * 5000, 12345
EVIL = b"evil" * 5000


class Box:
    """A box whose catalogue has the model `large`. `drop`: what the user that fetches writes."""

    def __init__(self, root: Path) -> None:
        self.whole = encoder.write(root / "source.gguf").read_bytes()
        rows: tuple[tuple[str, str, bytes, Form | None], ...] = (
            ("text", "text.gguf", TEXT, None),
            ("audio", "sub/mmproj.gguf", self.whole, "f16"),
        )
        files = {
            role: ModelFile(path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest(),
                            part=part)
            for role, path, data, part in rows
        }  # fmt: skip
        real = catalogue.find("gemma-4-e2b")
        self.model: CatalogueModel = msgspec.structs.replace(real, name="large", files=files)
        self.store = ModelStore(root / "models", {"large": self.model}, root / "model-wanted")
        self.drop = self.store.root / DROP / "large"
        self.drop.mkdir(parents=True)

    def fetched(self, text: bytes = TEXT) -> None:
        """The files are complete in the folder of the user that fetches."""
        (self.drop / "text.gguf").write_bytes(text)
        (self.drop / "mmproj.gguf").write_bytes(self.whole)
        self.ask()

    def ask(self, note: bytes = b"{}") -> None:
        (self.drop / READY).write_bytes(note)

    def accept(self) -> list[str]:
        return list(accept_all(self.store))

    @property
    def state(self) -> str:
        return self.store.state(self.model)

    @property
    def text(self) -> Path:
        return self.store.folder(self.model) / "text.gguf"
