"""The only import of llama.cpp, with its error log and a digest of its build."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
from collections import deque
from pathlib import Path

# With threads that spin at barriers, one other busy process slows llama.cpp down by a factor of
# 2 to 5 (measured). OpenMP reads this once, when llama.cpp is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import llama_cpp as llama
import llama_cpp.mtmd_cpp as mtmd

__all__ = [
    "build",
    "clear_log",
    "first_complaint",
    "llama",
    "mtmd",
    "takes_tokens_and_embeddings",
]

_ERROR = 4  # ggml_log_level

_errors: deque[str] = deque(maxlen=20)


def _take_log(level: int, text: bytes, _: object) -> None:
    if level == _ERROR:
        _errors.append(text.decode(errors="replace").strip())


_log_callback = llama.llama_log_callback(_take_log)  # must outlive every call


def clear_log() -> None:
    """Initialise llama.cpp and clear its logged errors; call before each model is loaded."""
    llama.llama_log_set(_log_callback, ctypes.c_void_p(0))
    mtmd.mtmd_log_set(_log_callback, ctypes.c_void_p(0))
    mtmd.mtmd_helper_log_set(_log_callback, ctypes.c_void_p(0))
    _errors.clear()
    llama.llama_backend_init()


def first_complaint() -> str:
    """Return llama.cpp's first logged error and clear the log; later ones follow from the first."""
    line = _errors[0] if _errors else "no reason given"
    _errors.clear()
    return re.sub(r"^(?:\w+: )+(?:error loading model[\w ]*: )?", "", line).rstrip(".")


@functools.cache
def takes_tokens_and_embeddings() -> bool:
    """Whether a batch of Gemma 4 may hold text and soft tokens: only in a build with our patch."""
    library = ctypes.CDLL(str(Path(llama.__file__).parent / "lib/libllama.so"))
    return hasattr(library, "llama_gemma4_takes_tokens_and_embeddings")


@functools.cache
def build() -> bytes:
    """A digest of llama.cpp's libraries: a state must not be loaded by another build."""
    digest = hashlib.sha256()
    for path in sorted((Path(llama.__file__).parent / "lib").glob("lib*.so")):
        digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
