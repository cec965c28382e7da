"""A language model that lies on this box: its files, its limits, and how its tokens are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from appliance.settings import ThinkingSettings


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn. Temperature 0 always takes the likeliest."""

    temperature: float = 1.0  # these three: the model card's advice for Gemma 4
    top_p: float = 0.95
    top_k: int = 64

    def with_owner(self, thinking: ThinkingSettings) -> Sampling:
        """The same with the owner's settings over it; -1 there means the model's own."""
        return Sampling(
            self.temperature if thinking.temperature < 0 else thinking.temperature,
            self.top_p if thinking.top_p < 0 else thinking.top_p,
            self.top_k if thinking.top_k < 0 else thinking.top_k,
        )


@dataclass(frozen=True)
class LocalModel:
    """A model that lies on this box.

    context_tokens  the most that it can hold; the owner's setting may be lower
    history_tokens  the most conversation that it can make use of; likewise
    persona         the system prompt that it was trained with, and with it the tools that it knows;
                    None takes the owner's, and declares the box's tools
    instruction     what it was trained to read behind sound; None takes the owner's
    transcribes     it can write down what was said, word for word, when asked to
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
