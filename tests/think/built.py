"""Models for tests of the patched llama.cpp build."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from appliance.models.local_model import Sampling
from appliance.think.context import LlamaContext
from appliance.think.gemma import Gemma
from tests.think import tiny

POCKET = Path(__file__).parents[2] / "appliance/models/pocket"
MODELS = ("tiny", "tiny, quantised", "pocket")


@contextmanager
def loaded(name: str, folder: Path) -> Iterator[Gemma]:
    """Load one of MODELS; a tiny one is first written into `folder`."""
    text, audio = POCKET / "pocket-text.gguf", POCKET / "pocket-audio.gguf"
    if name != "pocket":
        text, audio = folder / "text.gguf", folder / "audio.gguf"
        quantised = "quantised" in name
        tiny.write_text(text, per_layer=32 if quantised else tiny.PER_LAYER, quantised=quantised)
        tiny.write_audio(audio)
    sampling = Sampling(temperature=0.0)
    with closing(Gemma(text, audio, context_tokens=512, threads=1, sampling=sampling)) as model:
        yield model


@contextmanager
def opened_context(model: Gemma, *, mixed: bool | None = None) -> Iterator[LlamaContext]:
    """A context of 512 tokens and one sequence."""
    opened = LlamaContext(mixed=mixed)
    opened.open(model.model, 512, 1, sequences=1)
    with closing(opened):
        yield opened
