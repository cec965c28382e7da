"""The store of models on this disk: files, pins, and the marker that a model is complete.

models/NAME/            the files
        audio-part.gguf the audio part of an encoder; audio-part.json: its record (parts.py)
models/NAME/whole.json  written last: every file with its size and SHA-256
models/.fetch/          on a box: written by the user that fetches. The rest is root's, which moves
                        only files here that it has verified (acceptance.py). Elsewhere, and below,
                        there is no such folder, and a fetch writes into models/
models/.fetch/NAME/     FILE.partial while one is being fetched
models/.fetch/NAME.pin.json   values found by the first fetch where the catalogue has null
models/.fetch/NAME.lock       held while a fetch runs

/etc/interlude/model-wanted, owned by root, names the awaited model (background_download.py); the
shipped model answers until it is complete. "remove NAME" in that file requests a removal.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from appliance.errors import ModelBusy, ModelError, ShownAs
from appliance.models import catalogue
from appliance.models.catalogue import CatalogueModel, Form, ModelFile
from appliance.models.local_model import LocalModel, Sampling
from appliance.models.model_disk import sha256_of, size_of, storage_errors, write_durably
from appliance.record_file import read_record
from appliance.runtime.folder_lock import lock
from appliance.settings import Settings

State = Literal["shipped", "installed", "partial", "missing"]
WANTED = Path("/etc/interlude/model-wanted")  # written by root at the first start or in set-up
VOICE_WANTED = Path("/etc/interlude/voice-wanted")  # the same for a voice
REMOVE = "remove "  # prefix of the name in a request to remove a model
STANDS_IN = "pocket"
DROP = ".fetch"  # system/usr/lib/tmpfiles.d/interlude.conf makes it

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

    @property
    def hands_over(self) -> bool:
        """Whether another user writes the fetched files than this store's, who verifies them."""
        return (self.root / DROP).is_dir()

    @property
    def drop(self) -> Path:
        """The folder that a fetch writes."""
        return self.root / DROP if self.hands_over else self.root

    def dropped(self, model: CatalogueModel) -> Path:
        return self.drop / model.name

    def source(self, model: CatalogueModel, file: ModelFile) -> Path:
        """Path of a completely fetched file. Equal to `path` unless it is handed over, or only a
        part of it is kept."""
        return self.dropped(model) / file.name

    def partial(self, model: CatalogueModel, file: ModelFile) -> Path:
        return self.dropped(model) / f"{file.name}.partial"

    def unverified(self, model: CatalogueModel, file: ModelFile) -> Path:
        """Path of a file that was handed over, while it is verified."""
        return self.folder(model) / f"{file.name}.unverified"

    def present(self, model: CatalogueModel, file: ModelFile) -> int:
        """Bytes of a file that have been fetched, of a part those of the complete file."""
        paths = [self.partial(model, file), self.source(model, file), self.unverified(model, file)]
        if file.part is None:
            paths.append(self.path(model, file))
        return max(map(size_of, paths))

    def _marker(self, model: CatalogueModel) -> Path:
        return self.folder(model) / "whole.json"

    def _pin(self, model: CatalogueModel) -> Path:
        return self.drop / f"{model.name}.pin.json"

    def state(self, model: CatalogueModel) -> State:
        paths = {file.path: self.path(model, file) for file in model.files.values()}
        if model.shipped:
            return "shipped" if all(path.is_file() for path in paths.values()) else "missing"
        whole = self.whole(model)
        if whole is not None and all(
            path.is_file() and whole.files[name].size in (None, size_of(path))
            for name, path in paths.items()
        ):
            return "installed"
        there = any(self.present(model, file) for file in model.files.values())
        return "partial" if there or any(map(size_of, paths.values())) else "missing"

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
        """The marker of a complete model. None if it is missing, lists other files than the
        catalogue, or stands in a folder of another user than the store's."""
        found = read_record(self._marker(model), PinnedRevision)
        if found is None or not self.is_own(self.folder(model)):
            return None
        files = {file.path: file for file in model.files.values()}
        same = files.keys() == found.files.keys() and all(
            _agrees(file, found.files[path]) for path, file in files.items()
        )
        return found if same else None

    def is_own(self, folder: Path) -> bool:
        """Whether a folder belongs to the user of the store: root on a box, so that nobody else can
        have written what is in it."""
        try:
            return folder.lstat().st_uid == self.root.lstat().st_uid
        except OSError:
            return False

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
        self.pin(model, found)
        self.mark(model, PinnedRevision(found.revision, {**found.files, **(made or {})}))

    def pin(self, model: CatalogueModel, found: PinnedRevision) -> None:
        write_durably(self._pin(model), msgspec.json.format(msgspec.json.encode(found)))

    def mark(self, model: CatalogueModel, whole: PinnedRevision) -> None:
        write_durably(self._marker(model), msgspec.json.format(msgspec.json.encode(whole)))

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
            if folder.name not in self.models and len(own) == 1 and self.is_own(folder):
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
            raise self.unusable(model)
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

    def unusable(self, model: CatalogueModel) -> ModelError:
        """The error of a model that is not complete."""
        what, key = "is not on this box", "page-wrong-model-missing"
        remedy = f"Get it with `interlude models fetch {model.name}`."
        if model.shipped:
            remedy = "It comes with the package: install Interlude again."
        elif self._marker(model).exists() and self.whole(model) is None:
            what, key = "was not verified by this box", "page-wrong-model-unverified"
            remedy = f"Its files are not those of the catalogue, or not root's yet. {remedy}"
        elif self.state(model) == "partial":
            what, key = "is only partly here", "page-wrong-model-part"
        shown = ShownAs.of(key, model=model.name)
        return ModelError(f"The model {model.name} {what}.", remedy, shown=shown)

    def damage(
        self, model: CatalogueModel, progress: Callable[[int], object] | None = None
    ) -> list[str]:
        """Compare a complete model with the catalogue. Returns a sentence for each fault."""
        problems = (self.fault(model, file, progress) for file in model.files.values())
        return [problem for problem in problems if problem]

    def fault(
        self,
        model: CatalogueModel,
        file: ModelFile,
        progress: Callable[[int], object] | None = None,
    ) -> str:
        """A sentence if a file is not that of the catalogue, of a part and where the catalogue has
        no checksum that of the marker; "" if it is."""
        found, path = self.whole(model), self.path(model, file)
        pinned = file if found is None else found.files[file.path]
        if not path.is_file():
            return f"{path} is missing."
        if pinned.size is not None and size_of(path) != pinned.size:
            return f"{path} has {size_of(path)} bytes instead of {pinned.size}."
        if pinned.sha256 is not None and sha256_of(path, progress) != pinned.sha256:
            return f"{path} does not have the checksum it was fetched with."
        return ""

    def forget_whole(self, model: CatalogueModel) -> None:
        """Delete the marker, so that the model counts as incomplete."""
        with storage_errors(self.root):
            self._marker(model).unlink(missing_ok=True)

    def remove(self, model: CatalogueModel) -> None:
        """Delete the model's files; its pin is kept. Raises ModelError for a shipped model,
        ModelBusy while it is being fetched, StorageError."""
        if model.shipped:
            raise ModelError(f"{model.name} comes with the package: it stays.")
        with self.locked(model):
            self.discard(model)

    def discard(self, model: CatalogueModel) -> None:
        """Delete the model's files. Raises StorageError."""
        with storage_errors(self.root):
            self.forget_whole(model)  # first, so that a partly deleted model counts as incomplete
            if self.folder(model).exists():
                shutil.rmtree(self.folder(model))

    @contextlib.contextmanager
    def locked(self, model: CatalogueModel) -> Iterator[None]:
        """Hold the model's lock. Raises ModelBusy when another process has it."""
        path = self.drop / f"{model.name}.lock"
        with storage_errors(self.root):
            self.dropped(model).mkdir(parents=True, exist_ok=True)
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


def _agrees(file: ModelFile, found: ModelFile) -> bool:
    """Whether an entry of a marker can be of the catalogue's file. The size and checksum of a part
    are only in the marker."""
    if file.part is not None or found.part is not None:
        return file.part is not None and found.part is not None
    return file.size in (None, found.size) and file.sha256 in (None, found.sha256)
