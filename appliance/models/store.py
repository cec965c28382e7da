"""The store of models on this disk: files, pins, and the marker that a model is complete.

models/NAME/            the files; FILE.partial while one is being fetched
        audio-part.gguf the audio part of an encoder; audio-part.json: its record (parts.py)
models/NAME/whole.json  written last: every file with its size and SHA-256
models/NAME.pin.json    values found by the first fetch where the catalogue has null
models/NAME.lock        held while a fetch runs

/etc/interlude/model-wanted, owned by root, names the awaited model (background_download.py); the
shipped model answers until it is complete. "remove NAME" in that file requests a removal.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import FetchError, ModelBusy, ModelError, ShownAs, StorageError
from appliance.models import catalogue
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.local_model import LocalModel, Sampling
from appliance.record_file import read_record
from appliance.runtime.folder_lock import lock
from appliance.settings import Settings

State = Literal["shipped", "installed", "partial", "missing"]
WANTED = Path("/etc/interlude/model-wanted")  # written by root at the first start or in set-up
VOICE_WANTED = Path("/etc/interlude/voice-wanted")  # the same for a voice
REMOVE = "remove "  # prefix of the name in a request to remove a model
STANDS_IN = "pocket"
_CHUNK_BYTES = 1 << 20

log = logging.getLogger("models")


def resolve(settings: Settings, wanted: Path = WANTED) -> LocalModel:
    """Return the language model of the settings. Raises ModelError if it is not complete.

    While it is being fetched in the background, the shipped model is returned instead.
    """
    store, name = ModelStore.of(settings, wanted), settings.thinking.model
    if name == store.wanted() and store.state(catalogue.find(name, store.models)) != "installed":
        log.info("%s is not complete yet; %s answers until then", name, STANDS_IN)
        name = STANDS_IN
    return store.language_model(name)


class PinnedRevision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Values found at the first fetch: the revision, and each file by its path."""

    revision: str
    files: dict[str, ModelFile]


@dataclass(frozen=True)
class ModelStore:
    """The models directory of one box. `request_file`: it names the awaited model."""

    root: Path
    models: dict[str, CatalogueModel]
    request_file: Path = WANTED

    @classmethod
    def of(cls, settings: Settings, wanted: Path = WANTED) -> ModelStore:
        return cls(settings.models_path(), catalogue.with_own(settings.models), wanted)

    def folder(self, model: CatalogueModel) -> Path:
        return self.root / model.name

    def path(self, model: CatalogueModel, file: ModelFile) -> Path:
        """Path of the file that the box uses."""
        return catalogue.PACKAGE / file.path if model.shipped else self.folder(model) / file.kept

    def source(self, model: CatalogueModel, file: ModelFile) -> Path:
        """Path of the complete file; equal to `path` unless only a part of the file is kept."""
        return self.path(model, file).with_name(file.name)

    def partial(self, model: CatalogueModel, file: ModelFile) -> Path:
        return self.path(model, file).with_name(file.name + ".partial")

    def _marker(self, model: CatalogueModel) -> Path:
        return self.folder(model) / "whole.json"

    def _pin(self, model: CatalogueModel) -> Path:
        return self.root / f"{model.name}.pin.json"

    def state(self, model: CatalogueModel) -> State:
        paths = [self.path(model, file) for file in model.files.values()]
        if model.shipped:
            return "shipped" if all(path.is_file() for path in paths) else "missing"
        if self.whole(model) is not None and all(path.is_file() for path in paths):
            return "installed"
        candidates = [self.partial(model, file) for file in model.files.values()] + paths
        candidates += [self.source(model, file) for file in model.files.values()]
        return "partial" if any(path.exists() for path in candidates) else "missing"

    def wanted(self) -> str:
        """Name of the model to fetch; "" if none."""
        request = self._request()
        return "" if request.startswith(REMOVE) else request

    def unwanted(self) -> str:
        """Name of the model to remove; "" if none."""
        request = self._request()
        return request.removeprefix(REMOVE) if request.startswith(REMOVE) else ""

    def _request(self) -> str:
        try:
            return self.request_file.read_text(encoding="utf-8")[:80].strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def whole(self, model: CatalogueModel) -> PinnedRevision | None:
        """The marker of a complete model; None if it is missing or lists other files."""
        found = read_record(self._marker(model), PinnedRevision)
        paths = {file.path for file in model.files.values()}
        return found if found is not None and set(found.files) == paths else None

    def pinned(self, model: CatalogueModel) -> CatalogueModel:
        """Return `model` with the values of its first fetch in place of the catalogue's nulls."""
        pin = read_record(self._pin(model), PinnedRevision)
        if pin is None:
            return model
        files = {}
        for role, file in model.files.items():
            found = pin.files.get(file.path, file)
            files[role] = ModelFile(
                path=file.path,
                size=file.size or found.size,
                sha256=file.sha256 or found.sha256,
                part=file.part,
            )
        return msgspec.structs.replace(model, revision=model.revision or pin.revision, files=files)

    def mark_complete(
        self,
        model: CatalogueModel,
        found: PinnedRevision,
        made: Mapping[str, ModelFile] | None = None,
    ) -> None:
        """Write the pin of `model` and then its marker; call it when every file is in place.

        `made`: size, SHA-256 and form of the parts that replace complete files, by their paths.
        """
        marker = PinnedRevision(found.revision, {**found.files, **(made or {})})
        write_durably(self._pin(model), msgspec.json.format(msgspec.json.encode(found)))
        write_durably(self._marker(model), msgspec.json.format(msgspec.json.encode(marker)))

    def form(self, model: CatalogueModel) -> Form | None:
        """The form of a complete model's audio part; None if it has none."""
        found = self.whole(model)
        files = found.files.values() if found is not None else ()
        return next((file.part for file in files if file.part is not None), None)

    def piper_voices(self) -> dict[str, Path]:
        """Installed Piper voices, name → ONNX file: those of the catalogue, then the owner's own.

        An owner's own voice is any folder in models/ with one `X.onnx` and its `X.onnx.json`.
        """
        voices = {
            model.name: self.path(model, model.files["model"])
            for model in self.models.values()
            if model.kind == "voice" and self.state(model) == "installed"
        }
        for folder in sorted(self.root.glob("*/")) if self.root.is_dir() else []:
            own = [p for p in folder.glob("*.onnx") if p.with_name(p.name + ".json").is_file()]
            if folder.name not in self.models and len(own) == 1:
                voices[folder.name] = own[0]
        return voices

    def language_model(self, name: str) -> LocalModel:
        """Return the language model of that name with its paths on this disk.

        Raises ModelError if there is no such model, or it is not complete.
        """
        model = catalogue.find(name, self.models)
        if model.language is None:
            raise ModelError(
                f"`thinking.model`: {model.name} is not a language model.",
                f"There are {', '.join(n for n, m in self.models.items() if m.language)}.",
            )
        state = self.state(model)
        if state not in ("shipped", "installed"):
            what = "only partly here" if state == "partial" else "not on this box"
            remedy = f"Get it with `interlude models fetch {model.name}`."
            if model.shipped:
                remedy = "It comes with the package: install Interlude again."
            key = "page-wrong-model-part" if state == "partial" else "page-wrong-model-missing"
            shown = ShownAs.of(key, model=model.name)
            raise ModelError(f"The model {model.name} is {what}.", remedy, shown=shown)
        details = model.language
        return LocalModel(
            name=model.name,
            text=self.path(model, model.files["text"]),
            audio=self.path(model, model.files["audio"]),
            context_tokens=details.context_tokens,
            history_tokens=details.history_tokens,
            sampling=Sampling(details.temperature, details.top_p, details.top_k),
            persona=details.persona,
            instruction=details.instruction,
            transcribes=details.transcribes,
        )

    def damage(
        self, model: CatalogueModel, progress: Callable[[int], object] | None = None
    ) -> list[str]:
        """Check the files of a complete model. Returns a sentence for each fault."""
        found = self.whole(model)
        problems = []
        for file in model.files.values():
            path = self.path(model, file)
            pinned = file if found is None else found.files[file.path]
            if not path.is_file():
                problems.append(f"{path} is missing.")
            elif pinned.size is not None and path.stat().st_size != pinned.size:
                problems.append(f"{path} has {path.stat().st_size} bytes instead of {pinned.size}.")
            elif pinned.sha256 is not None and sha256_of(path, progress) != pinned.sha256:
                problems.append(f"{path} does not have the checksum it was fetched with.")
        return problems

    def forget_whole(self, model: CatalogueModel) -> None:
        """Delete the marker, so that the model counts as incomplete."""
        with storage_errors(self.root):
            self._marker(model).unlink(missing_ok=True)

    def remove(self, model: CatalogueModel) -> None:
        """Delete the model's files; its pin is kept. Raises ModelError for a shipped model,
        ModelBusy while it is being fetched, StorageError."""
        if model.shipped:
            raise ModelError(f"{model.name} comes with the package: it stays.")
        with self.locked(model), storage_errors(self.root):
            self.forget_whole(model)  # first, so that a partly deleted model counts as incomplete
            shutil.rmtree(self.folder(model))

    @contextlib.contextmanager
    def locked(self, model: CatalogueModel) -> Iterator[None]:
        """Hold the model's lock. Raises ModelBusy when another process has it."""
        path = self.root / f"{model.name}.lock"
        with storage_errors(self.root):
            self.folder(model).mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            try:
                lock(fd, path, 0.0)
            except TimeoutError as error:
                raise ModelBusy(
                    f"Another process is fetching {model.name} at this moment.",
                    "Wait until it is done, or end it.",
                ) from error
            yield
        finally:
            os.close(fd)


def sha256_of(path: Path, progress: Callable[[int], object] | None = None) -> str:
    """SHA-256 of a file in hex; `progress` is called with the number of bytes of each read."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while data := source.read(_CHUNK_BYTES):
            digest.update(data)
            if progress is not None:
                progress(len(data))
    return digest.hexdigest()


def write_durably(path: Path, data: bytes) -> None:
    """Write a small file atomically. Raises StorageError."""
    with storage_errors(path.parent):
        write_whole(path, data)


@contextlib.contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError of the disk into a StorageError."""
    try:
        yield
    except (FetchError, StorageError):
        raise
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written ({error.strerror}).",
            "What has arrived is kept: make room or fix the permissions, then fetch again.",
        ) from error
