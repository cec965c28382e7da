"""Reads the hidden states of an answer's tokens from llama.cpp's context.

In: a context that has just evaluated tokens. Out: for each token its embedding and the outputs of
the last decoder layers. llama.cpp has these functions for its own draft models; they are not part
of its public API. So they are looked up by their C++ names, and only in the version that they were
tested with.

While the tap is on, llama.cpp computes all layers for all tokens, so it is used for answers and
never for a prompt. Each switch makes llama.cpp rebuild its graph with the next token (1 ms on a
small model, 10 ms on E2B), so it is switched once per answer, not once per token.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.think.llama_library import llama

States = npt.NDArray[np.float32]  # [tokens, 1 + LAYERS, width]: the embedding, then the layers

LAYERS = 6  # the last layers, which the speech head mixes
TRIED = "0.3.36"  # llama-cpp-python version whose llama.cpp source the use of FUNCTIONS relies on

_POINTER, _NUMBER, _BOOL = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_bool
FUNCTIONS: dict[str, tuple[str, list[Any], Any]] = {
    "set_layer": (
        "_Z30llama_set_embeddings_layer_inpP13llama_contextjb", [_POINTER, _NUMBER, _BOOL], None,
    ),
    "get_layer": (
        "_Z30llama_get_embeddings_layer_inpP13llama_contextj", [_POINTER, _NUMBER], _POINTER,
    ),
    "set_last": (
        "_Z26llama_set_embeddings_nextnP13llama_contextbb", [_POINTER, _BOOL, _BOOL], None,
    ),
    "get_last": (
        "_Z30llama_get_embeddings_nextn_ithP13llama_contexti", [_POINTER, ctypes.c_int32], _POINTER,
    ),
}  # fmt: skip


def lacking(version: str = llama.__version__, library: ctypes.CDLL = llama.llama_cpp._lib) -> str:
    """Return a sentence that says why this llama.cpp gives no hidden states; "" if it does."""
    if version != TRIED:
        return f"Hidden states were tried with llama-cpp-python {TRIED}, and this is {version}."
    missing = [name for name, _, _ in FUNCTIONS.values() if not hasattr(library, name)]
    if missing:
        return f"This build of llama.cpp has no function {missing[0]}, and so no hidden states."
    return ""


class StateTap:
    """Reads the states of one context's tokens. Off until `switch_on`. For the model's thread."""

    def __init__(self, context: Any, model: Any, count: int = LAYERS) -> None:
        """Tap the last `count` layers. Raises ModelError if llama.cpp or the model lacks them."""
        if problem := lacking():
            raise ModelError(problem, "Set `speaking.voice` to another voice than `head`.")
        self.width = int(llama.llama_model_n_embd(model))
        layers = int(llama.llama_model_n_layer(model))
        if layers < count:
            raise ModelError(f"The model has {layers} layers; a speech head reads {count}.")
        self._context = context
        # The input of layer 0 is the embedding; the input of each later layer is the output of the
        # layer before it. The output of the last layer is only available after the output norm.
        self._inputs = (0, *range(layers - count + 1, layers))
        self._call = {name: bound(*signature) for name, signature in FUNCTIONS.items()}
        self._row_bytes = self.width * ctypes.sizeof(ctypes.c_float)
        self.on = False

    def switch_on(self) -> None:
        """Switch the tap on; call before the first token of an answer is evaluated."""
        self._switch(on=True)

    def switch_off(self) -> None:
        """Switch the tap off; call before any other evaluation. Safe to call twice."""
        if self.on:
            self._switch(on=False)

    def _switch(self, *, on: bool) -> None:
        for layer in self._inputs:
            self._call["set_layer"](self._context, layer, on)
        self._call["set_last"](self._context, on, True)  # True: only for tokens with an output
        self.on = on

    def read(self, tokens: int = 1) -> States:
        """Return a copy of the states of the last batch. Each of its tokens must have an output,
        and the tap must have been on before the batch, or llama.cpp ends the process."""
        if not self.on:
            raise ModelError("The tap of hidden states is switched off.")
        found = np.empty((tokens, len(self._inputs) + 1, self.width), np.float32)
        start, stride = found.ctypes.data, (len(self._inputs) + 1) * self._row_bytes
        for row, layer in enumerate(self._inputs):
            source = self._call["get_layer"](self._context, layer)
            for token in range(tokens):
                to = start + token * stride + row * self._row_bytes
                _copy(to, source and source + token * self._row_bytes, self._row_bytes)
        for token in range(tokens):
            to = start + (token + 1) * stride - self._row_bytes
            _copy(to, self._call["get_last"](self._context, token), self._row_bytes)
        return found


def bound(name: str, arguments: list[Any], result: Any) -> Any:
    """Return a function of FUNCTIONS with its argument and result types set."""
    function = getattr(llama.llama_cpp._lib, name)
    function.argtypes, function.restype = arguments, result
    return function


def _copy(to: int, source: int | None, length: int) -> None:
    if not source:
        raise ModelError("The model gave no hidden states for a token that it has read.")
    ctypes.memmove(to, source, length)
