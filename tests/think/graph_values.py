"""Reads named tensors of llama.cpp's compute graph through its evaluation callback.

A context made with it keeps a copy of every tensor whose name is wanted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.think.llama_library import llama

Rows = npt.NDArray[np.float32]


class _Tensor(ctypes.Structure):
    """ggml_tensor of ggml.h, as in the llama.cpp of llama-cpp-python 0.3.36."""

    _fields_ = (
        ("type", ctypes.c_int), ("buffer", ctypes.c_void_p), ("ne", ctypes.c_int64 * 4),
        ("nb", ctypes.c_size_t * 4), ("op", ctypes.c_int), ("op_params", ctypes.c_int32 * 16),
        ("flags", ctypes.c_int32), ("src", ctypes.c_void_p * 10), ("view_src", ctypes.c_void_p),
        ("view_offs", ctypes.c_size_t), ("data", ctypes.c_void_p), ("name", ctypes.c_char * 64),
        ("extra", ctypes.c_void_p), ("padding", ctypes.c_char * 8),
    )  # fmt: skip


class GraphContext:
    """A context that copies the wanted tensors. `values`: those of the last batch, by name."""

    def __init__(self, model: Any, wanted: Sequence[str]) -> None:
        self.values: dict[str, Rows] = {}
        self._wanted = {name.encode() for name in wanted}
        ggml = ctypes.CDLL(str(Path(llama.__file__).parent / "lib" / "libggml-base.so"))
        self._get = ggml.ggml_backend_tensor_get
        self._get.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
        self._get.restype = None
        ggml.ggml_tensor_overhead.restype = ctypes.c_size_t
        assert ggml.ggml_tensor_overhead() == ctypes.sizeof(_Tensor) + 32  # its ggml_object
        self._callback = llama.ggml_backend_sched_eval_callback(self._look)
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = 256
        parameters.n_threads = parameters.n_threads_batch = 1
        parameters.flash_attn_type, parameters.swa_full = 0, True
        parameters.cb_eval = self._callback
        self.handle = llama.llama_init_from_model(model, parameters)
        self._position = 0

    def _look(self, tensor: int, ask: bool, _: object) -> bool:
        found = ctypes.cast(tensor, ctypes.POINTER(_Tensor)).contents
        if ask:
            return found.name in self._wanted
        rows = np.empty((found.ne[1], found.ne[0]), np.float32)
        self._get(tensor, rows.ctypes.data, 0, rows.nbytes)
        self.values[found.name.decode()] = rows
        return True

    def read(self, tokens: Sequence[int]) -> None:
        """Decode one batch, with an output for each token."""
        batch = llama.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for at, token in enumerate(tokens):
            batch.token[at], batch.pos[at] = token, self._position + at
            batch.n_seq_id[at], batch.seq_id[at][0], batch.logits[at] = 1, 0, 1
        assert llama.llama_decode(self.handle, batch) == 0
        llama.llama_batch_free(batch)
        self._position += len(tokens)

    def close(self) -> None:
        llama.llama_free(self.handle)
