"""The catalogue: every model by name, read from `catalogue.yaml`. Uses no network."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import msgspec
import yaml

from appliance.errors import ModelError, ShownAs
from appliance.settings.loading import load_own_yaml
from appliance.settings.models import OwnModel

PACKAGE = Path(__file__).parent
CATALOGUE = PACKAGE / "catalogue.yaml"

ModelKind = Literal["language", "voice", "words", "codec"]
Form = Literal["f16", "q8_0"]  # the number format of an encoder's audio part

# A note for each form that is used only on request.
UNJUDGED: dict[Form, str] = {
    "q8_0": "Audio in Q8_0 takes half the room of F16. Nobody has judged it on real speech yet."
}


class CatalogueRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of the catalogue's records; unknown keys are rejected."""


class ModelFile(CatalogueRow, frozen=True):
    """One file: its path in the repository (or the package), size in bytes, SHA-256 in hex.

    `part`: if set, the box keeps only the file's audio part, in this form (parts.py).
    """

    path: str
    size: Annotated[int, msgspec.Meta(gt=0)] | None = None
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] | None = None

    part: Form | None = None

    @property
    def name(self) -> str:
        """Name of the file during a download and on a stick."""
        return PurePosixPath(self.path).name

    @property
    def kept(self) -> str:
        """Name of the file that the box uses."""
        return self.name if self.part is None else "audio-part.gguf"


class LanguageModelDetails(CatalogueRow, frozen=True):
    """Details of a language model: its context, and the sampling that its makers recommend."""

    context_tokens: Annotated[int, msgspec.Meta(gt=0)]
    history_tokens: Annotated[int, msgspec.Meta(gt=0)]
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)]
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)]
    top_k: Annotated[int, msgspec.Meta(ge=0)]
    persona: str | None = None  # the system prompt it was trained with; None: the owner's
    instruction: str | None = None  # the text after sound it was trained with; None: the owner's
    transcribes: bool = True  # it can transcribe speech


class CatalogueModel(CatalogueRow, frozen=True):
    """One model. `repository` is None for a model in the package, "" for one that can only be
    copied from a USB stick."""

    kind: ModelKind
    about: str
    repository: str | None
    licence: str
    licence_url: str
    files: dict[str, ModelFile]
    revision: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40}$")] | None = None
    note: str = ""
    language: LanguageModelDetails | None = None
    name: str = ""

    @property
    def shipped(self) -> bool:
        return self.repository is None

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if a size is unknown."""
        sizes = [file.size for file in self.files.values()]
        return None if None in sizes else sum(size or 0 for size in sizes)


@cache
def load(path: Path = CATALOGUE) -> dict[str, CatalogueModel]:
    """Load every model by name, in the order of the file. Raises ModelError for a bad file."""
    try:
        raw = load_own_yaml(path)
        models = msgspec.convert(raw, dict[str, CatalogueModel])
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise ModelError(f"{path} is not a catalogue of models ({error}).") from error
    return {name: msgspec.structs.replace(model, name=name) for name, model in models.items()}


def with_own(rows: Mapping[str, OwnModel]) -> dict[str, CatalogueModel]:
    """Return the catalogue with the rows of the owner's settings. Raises ModelError for a name that
    the catalogue has, so that the settings cannot replace its checksums."""
    models = dict(load())
    for name, row in rows.items():
        if name in models:
            problem = f"`models.{name}`: the catalogue has a model of that name."
            raise ModelError(problem, "Give yours another name.")
        models[name] = _own(name, row)
    return models


def _own(name: str, row: OwnModel) -> CatalogueModel:
    return CatalogueModel(
        kind="language",
        about=row.about,
        repository=row.repository,
        revision=row.revision or None,
        licence=row.licence,
        licence_url=row.licence_url,
        files={
            role: ModelFile(path=file.file, size=file.size, sha256=file.sha256)
            for role, file in (("text", row.text), ("audio", row.audio))
        },
        language=LanguageModelDetails(
            context_tokens=row.context_tokens,
            history_tokens=row.history_tokens,
            temperature=row.temperature,
            top_p=row.top_p,
            top_k=row.top_k,
            persona=row.persona,
            instruction=row.instruction,
            transcribes=row.transcribes,
        ),
        name=name,
    )


def find(name: str, models: dict[str, CatalogueModel] | None = None) -> CatalogueModel:
    """Return the model of that name. Raises ModelError, with the nearest name, if unknown."""
    models = load() if models is None else models
    if name in models:
        return models[name]
    matches = difflib.get_close_matches(name, models, n=1)
    hint = f"Did you mean `{matches[0]}`?" if matches else f"There are {', '.join(models)}."
    shown = ShownAs.of("page-wrong-model-unknown", model=name)
    raise ModelError(f"There is no model `{name}`.", hint, shown=shown)


def megabytes(size: int) -> str:
    """Format a size in bytes as MB or GB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"
