"""Opens every ONNX network, with options for a machine that processes live sound.

In: a file. Out: a session whose threads never spin: other threads share their cores, and spinning
would take their time (llama.cpp's barriers do that).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import onnxruntime

from appliance.errors import ModelError


def open_session(
    model: Path,
    what: str,
    threads: int = 1,
    also: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> onnxruntime.InferenceSession:
    """Open the network in the file `model`. `what`: its name in an error message. `also`: inner
    values of the graph that become additional outputs, after its own. `sizes`: of dimensions that
    the graph leaves open; every run has them, so branches for others go. Raises ModelError."""
    if not model.is_file():
        raise ModelError(f"{model}: {what} is missing.", "Install the package again.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3  # errors only
    options.enable_cpu_mem_arena = False  # the arena only ever grows
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    for name, size in (sizes or {}).items():
        options.add_free_dimension_override_by_name(name, size)
    source = model.read_bytes() + with_outputs(also) if also else str(model)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common base of their own
        raise ModelError(f"{model}: is not a usable network ({first_line(error)}).") from error


def with_outputs(names: Sequence[str]) -> bytes:
    """Bytes that, appended to an ONNX file, make these values outputs of its graph.

    A protocol buffer parser merges a message field that occurs more than once, and concatenates
    its repeated fields: this is a second occurrence of the graph (ModelProto.graph, field 7) that
    has only outputs (GraphProto.output, field 12, whose name is field 1).
    """
    outputs = b"".join(_field(12, _field(1, name.encode())) for name in names)
    return _field(7, outputs)


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited field of a protocol buffer."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last have the highest bit set."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def stoppable_run() -> onnxruntime.RunOptions:
    """Options of one run. The run ends with an error, between two nodes, after another thread has
    set their `terminate`."""
    return onnxruntime.RunOptions()


def first_line(error: Exception) -> str:
    """The first line of an ONNX Runtime error; the others are of no use to an owner."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
