"""Small networks in ONNX beside live sound: the box's only import of onnxruntime.

In: a file that the package ships. Out: a session of one thread, which never spins: the listener
shares its core with others, and each run takes well under a millisecond.
"""

from __future__ import annotations

from pathlib import Path

import onnxruntime

from appliance.errors import ModelError


def open_session(model: Path, what: str) -> onnxruntime.InferenceSession:
    """The network in the file `model`. `what` it is, for its owner. Raises ModelError."""
    if not model.is_file():
        raise ModelError(f"{model}: {what} is missing.", "Install the package again.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    options.enable_cpu_mem_arena = False  # the arena only ever grows, and these tensors are tiny
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common base of their own
        reason = str(error).splitlines()[0]
        raise ModelError(f"{model}: is not a usable network ({reason}).") from error
