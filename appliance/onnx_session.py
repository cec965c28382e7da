"""Networks in ONNX beside live sound: each is opened here.

In: a file. Out: a session whose threads never spin: they share their cores with others, whose time
spinning would take, as llama.cpp's barriers do.
"""

from __future__ import annotations

from pathlib import Path

import onnxruntime

from appliance.errors import ModelError


def open_session(model: Path, what: str, threads: int = 1) -> onnxruntime.InferenceSession:
    """The network in the file `model`. `what` it is, for its owner. Raises ModelError."""
    if not model.is_file():
        raise ModelError(f"{model}: {what} is missing.", "Install the package again.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3  # errors only
    options.enable_cpu_mem_arena = False  # the arena only ever grows
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common base of their own
        raise ModelError(f"{model}: is not a usable network ({first_line(error)}).") from error


def first_line(error: Exception) -> str:
    """What ONNX Runtime says is wrong, of which it says more than an owner can use."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
