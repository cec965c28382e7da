"""Reads the hidden states of the tokens that an answer is made of, out of llama.cpp's context.

In: a context that has just read tokens. Out: for each of them its embedding and what the last
decoder layers made of it. llama.cpp has the functions for its own drafts and does not promise
them: their C++ names are looked up, and only the version they were tried with is asked.

As long as they are on, all layers are computed for all tokens: they are for answers, never for a
prompt. Each switch has llama.cpp lay out its graph anew with the next token (1 ms on a small model,
10 ms on E2B): once an answer, not once a token.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.think.llama_library import llama

States = npt.NDArray[np.float32]  # [tokens, 1 + LAYERS, width]: the embedding, then the layers

LAYERS = 6  # the last ones: those that the speech head mixes
TRIED = "0.3.36"  # of llama-cpp-python: what the functions mean was read in its llama.cpp

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
    """Why this llama.cpp gives no hidden states, a sentence; "" if it does."""
    if version != TRIED:
        return f"Hidden states were tried with llama-cpp-python {TRIED}, and this is {version}."
    missing = [name for name, _, _ in FUNCTIONS.values() if not hasattr(library, name)]
    if missing:
        return f"This build of llama.cpp has no function {missing[0]}, and so no hidden states."
    return ""


class StateTap:
    """The states of one context's tokens. Off until `switch_on`. Belongs to the model's thread."""

    def __init__(self, context: Any, model: Any, count: int = LAYERS) -> None:
        """Of the last `count` layers. Raises ModelError where llama.cpp or the model has none."""
        if problem := lacking():
            raise ModelError(problem, "Set `speaking.voice` to another voice than `head`.")
        self.width = int(llama.llama_model_n_embd(model))
        layers = int(llama.llama_model_n_layer(model))
        if layers < count:
            raise ModelError(f"The model has {layers} layers; a speech head reads {count}.")
        self._context = context
        # What goes into layer 0 is the embedding, and what goes into a later one is what the layer
        # before it gave. What the last one gave is there only behind the output's norm.
        self._inputs = (0, *range(layers - count + 1, layers))
        self._call = {name: bound(*how) for name, how in FUNCTIONS.items()}
        self._row_bytes = self.width * ctypes.sizeof(ctypes.c_float)
        self.on = False

    def switch_on(self) -> None:
        """Before the first token of an answer is read."""
        self._switch(on=True)

    def switch_off(self) -> None:
        """Before anything else is read. Safe to call twice."""
        if self.on:
            self._switch(on=False)

    def _switch(self, *, on: bool) -> None:
        for layer in self._inputs:
            self._call["set_layer"](self._context, layer, on)
        self._call["set_last"](self._context, on, True)  # only of tokens that have an output
        self.on = on

    def read(self, tokens: int = 1) -> States:
        """Of the tokens that were read last: one batch, each with an output, and the tap
        was on before it: llama.cpp ends the process where it was not. A copy."""
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
    """One of FUNCTIONS, to be called."""
    function = getattr(llama.llama_cpp._lib, name)
    function.argtypes, function.restype = arguments, result
    return function


def _copy(to: int, source: int | None, length: int) -> None:
    if not source:
        raise ModelError("The model gave no hidden states for a token that it has read.")
    ctypes.memmove(to, source, length)
