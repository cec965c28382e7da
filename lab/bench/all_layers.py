"""Has llama.cpp compute all layers for all tokens of a context, as it does without our patch.

scripts/patches leaves out layers that write no keys and values where nobody wants what they make.
Who asks for what goes into the last layer wants it of every token: no output comes on top.
"""

from __future__ import annotations

from typing import Any

from appliance.think.llama_library import llama
from appliance.think.state_tap import FUNCTIONS, bound


def compute_all_layers(context: Any, model: Any) -> None:
    """From the next batch of `context` on; handles of llama.cpp."""
    set_layer = bound(*FUNCTIONS["set_layer"])
    set_layer(context, llama.llama_model_n_layer(model) - 1, True)
