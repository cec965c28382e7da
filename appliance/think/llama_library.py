"""llama.cpp itself, imported here and nowhere else: what it complains of, and which build it is."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
from collections import deque
from pathlib import Path

# Threads that spin at barriers cost 2 to 5 times in speed beside one busy neighbour (measured).
# OpenMP reads this once, when llama.cpp is loaded.
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
    """Before the first model, and before each: what was complained of until then is forgotten."""
    llama.llama_log_set(_log_callback, ctypes.c_void_p(0))
    mtmd.mtmd_log_set(_log_callback, ctypes.c_void_p(0))
    mtmd.mtmd_helper_log_set(_log_callback, ctypes.c_void_p(0))
    _errors.clear()
    llama.llama_backend_init()


def first_complaint() -> str:
    """The first thing that llama.cpp complained about: what follows it is only its echo."""
    line = _errors[0] if _errors else "no reason given"
    _errors.clear()
    return re.sub(r"^(?:\w+: )+(?:error loading model[\w ]*: )?", "", line).rstrip(".")


@functools.cache
def takes_tokens_and_embeddings() -> bool:
    """One batch of Gemma 4 may hold both: the build says so that has our patch for it."""
    library = ctypes.CDLL(str(Path(llama.__file__).parent / "lib/libllama.so"))
    return hasattr(library, "llama_gemma4_takes_tokens_and_embeddings")


@functools.cache
def build() -> bytes:
    """A digest of its libraries: what one build has computed, another one may not go on with."""
    digest = hashlib.sha256()
    for path in sorted((Path(llama.__file__).parent / "lib").glob("lib*.so")):
        digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
