"""The shape of a model like the benchmarked one, small enough to be written in a second."""

from __future__ import annotations

from lab.bench.model_shape import Shape
from tests.english import ESPEAK

SETTINGS = ESPEAK
TINY = Shape(
    layers=5, shared=2, period=3, window=48, width=256, heads=2, head_window=128, head_full=256,
    inner=256, per_layer=256, vocabulary=2048, context=8192, encoder_layers=2, encoder_width=64,
    encoder_heads=2, encoder_inner=128, encoder_out=48, mels=64, channels=(8, 8),
)  # fmt: skip
