"""Converts an audio encoder's GGUF to the streaming encoder's files, once, and caches them.

encoder-DIGEST.onnx, encoder-DIGEST.data   graph and constants
encoder-DIGEST.json                        their checksums; written last

DIGEST covers all inputs of the conversion: the GGUF, the form and the version of the graph. Damaged
files are made again. If the conversion fails, llama.cpp encodes the sound.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import ModelError, StorageError
from appliance.models.model_disk import sha256_of
from appliance.models.onnx_graph.graph import Form
from appliance.record_file import read_record
from appliance.runtime.free_space import SPARE_BYTES, free_bytes, lacking_bytes
from appliance.think.prompt_state_cache import model_identity

if TYPE_CHECKING:
    from appliance.think.streaming_encoder import StreamingEncoder

FOLDER = "audio-encoder"  # in the state folder
VERSION = 1  # of the graph: increase it with every change of the conversion
CPUINFO = Path("/proc/cpuinfo")
# The encoder of a smaller file is as fast in fp32 and takes little space: the pocket model's file
# has 1.5 MB, Gemma 4's 586 MiB.
SMALL_BYTES = 64 << 20
_STEM = "encoder-"

log = logging.getLogger("thinker")


class EncoderRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """SHA-256 of both files; `audio` is the path of their GGUF, for information only."""

    graph_sha256: str
    data_sha256: str
    audio: str


def open_encoder(audio: Path, folder: Path, threads: int) -> StreamingEncoder | None:
    """Open the streaming encoder of a GGUF. If that fails, log why and return None: llama.cpp's
    encoder is then used.

    Takes a few seconds; if the files must be made first, up to a minute more on a Pi (not measured
    there).
    """
    from appliance.think.streaming_encoder import StreamingEncoder  # imports ONNX Runtime

    try:
        return StreamingEncoder(prepare(audio, folder), threads)
    except (ModelError, StorageError, OSError) as error:
        log.warning("no streaming audio encoder: llama.cpp encodes the sound (%s)", error)
        return None


def prepare(audio: Path, folder: Path, form: Form | None = None) -> Path:
    """Return the path of the graph; make the files if they are missing or damaged. `form`: None
    for this machine's best. Raises ModelError, StorageError, OSError."""
    form = form or best_form(audio)
    made_of = f"{VERSION} {form} ".encode() + model_identity(audio)
    stem = folder / (_STEM + hashlib.sha256(made_of).hexdigest()[:16])
    graph, data, record = (stem.with_suffix(end) for end in (".onnx", ".data", ".json"))
    found = read_record(record, EncoderRecord)
    if found is not None:
        if _has_digest(graph, found.graph_sha256) and _has_digest(data, found.data_sha256):
            return graph
        log.warning("%s is damaged; making it again", graph)
    from appliance.models.encoder_graph.make import (
        bytes_needed,
        make,
    )  # imports gguf, so only where needed

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _drop_all(folder)
    _check_space(bytes_needed(audio, form), folder)
    started_s = time.monotonic()
    try:
        made = make(audio, graph, data, form)
        content = EncoderRecord(made.graph_sha256, made.data_sha256, str(audio))
        write_whole(record, msgspec.json.encode(content), 0o600)
    except BaseException:
        _drop_all(folder)
        raise
    log.info("made the streaming audio encoder of %s in %s, in %.1f s", audio.name, form,
             time.monotonic() - started_s)  # fmt: skip
    return graph


def best_form(audio: Path, cpuinfo: Path = CPUINFO, machine: str = platform.machine()) -> Form:
    """Return the number format in which this machine runs the encoder best. Raises OSError."""
    if audio.stat().st_size < SMALL_BYTES:
        return "fp32"
    return "int7" if machine == "x86_64" and "vnni" not in cpuinfo.read_text() else "int8"


def _drop_all(folder: Path) -> None:
    """Delete the files of other models and incomplete ones."""
    for path in folder.glob(_STEM + "*"):
        with contextlib.suppress(OSError):
            path.unlink()


def _check_space(wanted: int, folder: Path) -> None:
    free = free_bytes(folder)
    if lacking_bytes(wanted, free):
        raise StorageError(
            f"The streaming audio encoder takes {wanted >> 20} MiB, and {free >> 20} MiB are free "
            f"on the disk of {folder}, of which {SPARE_BYTES >> 20} MiB stay free."
        )


def _has_digest(path: Path, sha256: str) -> bool:
    try:
        return sha256_of(path) == sha256
    except OSError:
        return False
