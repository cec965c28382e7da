"""Counts the tokens that each layer of a model is computed for, with llama.cpp's callback."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import pytest

from appliance.think.llama_library import llama


def note_rows(monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """Return a dict that contexts opened from now on fill: layer to tokens of its last batch. Clear
    it between batches, since a layer that is not computed keeps its old entry."""
    library = ctypes.CDLL(str(Path(llama.__file__).parent / "lib/libggml-base.so"))
    name_of, rows_of = library.ggml_get_name, library.ggml_nrows
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    rows_of.restype, rows_of.argtypes = ctypes.c_int64, [ctypes.c_void_p]
    layers: dict[int, int] = {}

    @llama.ggml_backend_sched_eval_callback  # type: ignore[untyped-decorator]
    def note(tensor: int, asked: bool, data: object) -> bool:
        if asked and (found := re.fullmatch(rb"ffn_out-(\d+)", name_of(tensor))):
            layers[int(found[1])] = rows_of(tensor)
        return not asked

    defaults = llama.llama_context_default_params

    def noting() -> Any:
        parameters = defaults()
        parameters.cb_eval = note
        return parameters

    monkeypatch.setattr(llama, "llama_context_default_params", noting)
    return layers
