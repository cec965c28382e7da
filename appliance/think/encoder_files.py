"""The streaming encoder's files, made of an audio encoder's GGUF once, and kept in a folder.

encoder-DIGEST.onnx, encoder-DIGEST.data   graph and constants
encoder-DIGEST.json                        their checksums; written last

DIGEST stands for all that they are made of: the GGUF, the form, this program's way to make them.
What is damaged is made again. What cannot be made leaves the encoding to llama.cpp.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import platform
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import ModelError, StorageError
from appliance.models.disk_space import SPARE_BYTES
from appliance.models.onnx_graph.graph import Form
from appliance.models.store import sha256_of
from appliance.record_file import read_record
from appliance.think.prompt_state_cache import model_identity

if TYPE_CHECKING:
    from appliance.think.streaming_encoder import StreamingEncoder

FOLDER = "audio-encoder"  # in the state's folder
VERSION = 1  # of the graph: raised with every change of what is made
CPUINFO = Path("/proc/cpuinfo")
# The encoder of a smaller file is as fast in fp32, and takes little room: the pocket model's has
# 1.5 MB, Gemma 4's 586 MiB.
SMALL_BYTES = 64 << 20
_STEM = "encoder-"

log = logging.getLogger("thinker")


class EncoderRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SHA-256 of both files, and for people of which GGUF they are made."""

    graph_sha256: str
    data_sha256: str
    audio: str


def open_encoder(audio: Path, folder: Path, threads: int) -> StreamingEncoder | None:
    """The streaming encoder of that GGUF; None where llama.cpp's is to be used. Why is in the log.

    Takes a few seconds; if the files have to be made first, up to a minute more on a Pi (not
    measured there).
    """
    from appliance.think.streaming_encoder import StreamingEncoder  # and with it ONNX Runtime

    try:
        return StreamingEncoder(prepare(audio, folder), threads)
    except (ModelError, StorageError, OSError) as error:
        log.warning("llama.cpp encodes what is heard, not as it is spoken (%s)", error)
        return None


def prepare(audio: Path, folder: Path, form: Form | None = None) -> Path:
    """The graph's file, made now if it is not there as it was made. `form`: None for this
    machine's best. Raises ModelError, StorageError, OSError."""
    form = form or best_form(audio)
    made_of = f"{VERSION} {form} ".encode() + model_identity(audio)
    stem = folder / (_STEM + hashlib.sha256(made_of).hexdigest()[:16])
    graph, data, record = (stem.with_suffix(end) for end in (".onnx", ".data", ".json"))
    found = read_record(record, EncoderRecord)
    if found is not None:
        if _is(graph, found.graph_sha256) and _is(data, found.data_sha256):
            return graph
        log.warning("%s is damaged and made again", graph)
    from appliance.models.encoder_graph.make import (
        bytes_needed,
        make,
    )  # gguf: only where it is needed

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _drop_all(folder)
    _check_room(bytes_needed(audio, form), folder)
    began_s = time.monotonic()
    try:
        made = make(audio, graph, data, form)
        content = EncoderRecord(made.graph_sha256, made.data_sha256, str(audio))
        write_whole(record, msgspec.json.encode(content), 0o600)
    except BaseException:
        _drop_all(folder)
        raise
    log.info("made the streaming audio encoder of %s in %s, in %.1f s", audio.name, form,
             time.monotonic() - began_s)  # fmt: skip
    return graph


def best_form(audio: Path, cpuinfo: Path = CPUINFO, machine: str = platform.machine()) -> Form:
    """The form in which this machine computes that encoder best. Raises OSError."""
    if audio.stat().st_size < SMALL_BYTES:
        return "fp32"
    return "int7" if machine == "x86_64" and "vnni" not in cpuinfo.read_text() else "int8"


def _drop_all(folder: Path) -> None:
    """Of another model, or half written."""
    for path in folder.glob(_STEM + "*"):
        with contextlib.suppress(OSError):
            path.unlink()


def _check_room(wanted: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if wanted + SPARE_BYTES > free:
        raise StorageError(
            f"The streaming audio encoder takes {wanted >> 20} MiB, and {free >> 20} MiB are free "
            f"on the disk of {folder}, of which {SPARE_BYTES >> 20} MiB stay free."
        )


def _is(path: Path, sha256: str) -> bool:
    try:
        return sha256_of(path) == sha256
    except OSError:
        return False
