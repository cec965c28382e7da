"""A language model on this box: its files, its limits, and its sampling parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from appliance.settings import ThinkingSettings


@dataclass(frozen=True)
class Sampling:
    """Parameters for sampling the next token. Temperature 0 always takes the most likely one."""

    temperature: float = 1.0  # these three: the model card's advice for Gemma 4
    top_p: float = 0.95
    top_k: int = 64

    def with_owner(self, thinking: ThinkingSettings) -> Sampling:
        """Return a copy overridden by the owner's settings, where -1 keeps the model's value."""
        return Sampling(
            self.temperature if thinking.temperature < 0 else thinking.temperature,
            self.top_p if thinking.top_p < 0 else thinking.top_p,
            self.top_k if thinking.top_k < 0 else thinking.top_k,
        )


@dataclass(frozen=True)
class LocalModel:
    """A language model whose files are on this box.

    context_tokens  largest context; the owner's setting may be lower
    history_tokens  longest conversation that it can use; the owner's setting may be lower
    persona         the system prompt that it was trained with, which includes its tools;
                    None: the owner's, and the box's tools are declared
    instruction     the text after sound that it was trained with; None: the owner's
    transcribes     it can transcribe speech word for word when instructed
    """

    name: str
    text: Path
    audio: Path
    context_tokens: int = 131_072
    history_tokens: int = 131_072
    sampling: Sampling = Sampling()
    persona: str | None = None
    instruction: str | None = None
    transcribes: bool = True
