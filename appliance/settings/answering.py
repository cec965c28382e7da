"""Settings of the answer: the language model, the voice, and what the memory stores."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from appliance.settings.section import Milliseconds, Ratio, Section


class RemoteSettings(Section, frozen=True):
    """An OpenAI-compatible server with audio input, in place of the local model."""

    url: str
    model: str
    key_file: str
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)]

    @property
    def has_secret(self) -> bool:
        """Whether the address contains a login, or a query, which may contain a key."""
        return "@" in self.url or "?" in self.url

    @property
    def server(self) -> str:
        """Host and port of the address, for display; without the login."""
        try:
            return urlsplit(self.url).netloc.rpartition("@")[2]
        except ValueError:
            return "an invalid address"


class ThinkingSettings(Section, frozen=True):
    """The language model."""

    model: str
    remote: RemoteSettings
    persona: str
    instruction: str
    context_tokens: Annotated[int, msgspec.Meta(ge=512, le=131_072)]
    history_tokens: Annotated[int, msgspec.Meta(ge=128, le=131_072)]
    answer_tokens: Annotated[int, msgspec.Meta(ge=8, le=4096)]
    threads: Annotated[int, msgspec.Meta(ge=0, le=64)]
    audio_encoder: Literal["streaming", "llama"]
    temperature: Annotated[float, msgspec.Meta(ge=-1, le=2)]
    top_p: Annotated[float, msgspec.Meta(ge=-1, le=1)]
    top_k: Annotated[int, msgspec.Meta(ge=-1, le=1000)]
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class SpeakingSettings(Section, frozen=True):
    """The voice."""

    voice: str
    volume: Ratio
    words_per_minute: Annotated[int, msgspec.Meta(ge=80, le=400)]
    while_judging: Literal["pause", "duck"]
    duck_db: Annotated[float, msgspec.Meta(ge=-40, le=-6)]
    resume_ramp_ms: Annotated[int, msgspec.Meta(ge=1, le=25)]
    rewind_after_s: Annotated[float, msgspec.Meta(ge=0, le=60)]
    grace_ms: Milliseconds
    chime: bool


class MemorySettings(Section, frozen=True):
    """How many turns of conversations are stored and given back to the model."""

    keep_turns: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    recall_turns: Annotated[int, msgspec.Meta(ge=0, le=200)]
