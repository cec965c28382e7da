"""Has llama.cpp compute all layers for all tokens of a context, as it does without our patch.

The patch in scripts/patches skips layers that write no keys and values for tokens without an
output. A request for the input of the last layer applies to every token, which disables the skip
without adding an output.
"""

from __future__ import annotations

from typing import Any

from appliance.think.llama_library import llama
from appliance.think.state_tap import FUNCTIONS, bound


def compute_all_layers(context: Any, model: Any) -> None:
    """Compute all layers from the next batch on. `context`, `model`: handles of llama.cpp."""
    set_layer = bound(*FUNCTIONS["set_layer"])
    set_layer(context, llama.llama_model_n_layer(model) - 1, True)
