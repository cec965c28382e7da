"""Settings of the owner's own language models, which are not in the catalogue.

A row under `models:` names the files, with size and checksum, and the fields that a row of the
catalogue has. It may not have the name of a catalogue model, so it cannot replace our checksums.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.settings.section import Section

MODEL_NAME = r"^[a-z0-9][a-z0-9.-]{0,39}$"
_TEXT = msgspec.Meta(max_length=300)


class OwnFile(Section, frozen=True):
    """One GGUF: its file name, its size in bytes, its SHA-256 in hex."""

    file: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.gguf$")]
    size: Annotated[int, msgspec.Meta(gt=0, le=1 << 40)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class OwnModel(Section, frozen=True):
    """A language model: its two files, where they are downloaded from, and how it is used.

    `repository`, `revision`: on the hub; without them the model is installed from a USB stick only.
    The defaults of the other fields are those of the catalogue's Gemma.
    """

    text: OwnFile
    audio: OwnFile
    about: Annotated[str, _TEXT] = "A model of the owner's own."
    licence: Annotated[str, _TEXT] = "known to the owner"
    licence_url: Annotated[str, _TEXT] = ""
    repository: Annotated[str, msgspec.Meta(pattern=r"^$|^[\w.-]{1,96}/[\w.-]{1,96}$")] = ""
    revision: Annotated[str, msgspec.Meta(pattern="^$|^[0-9a-f]{40}$")] = ""
    context_tokens: Annotated[int, msgspec.Meta(ge=512, le=131_072)] = 131_072
    history_tokens: Annotated[int, msgspec.Meta(ge=128, le=131_072)] = 6000
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] = 1.0
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.95
    top_k: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 64
    persona: Annotated[str, msgspec.Meta(max_length=4000)] | None = None
    instruction: Annotated[str, _TEXT] | None = None
    transcribes: bool = True

    def __post_init__(self) -> None:
        if self.text.file == self.audio.file:
            raise ValueError("`text` and `audio` are two files")
