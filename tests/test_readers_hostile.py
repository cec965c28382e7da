"""Files that come from outside the box are refused before they take up memory: a row per reader.

Archives, seeds, payloads, settings and answers of servers have test files of their own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import InterludeError
from appliance.hear.aec import store as echo_store
from appliance.hear.bargein import adaptation
from appliance.hear.words import sherpa_backend
from appliance.models.mimi_graph.safetensors import SafeTensors
from appliance.runtime.enrolled_files import FILE as ENROLLED
from appliance.voice.description import piper_language
from appliance.voice.head.head_manifest import read_head_manifest
from appliance.voice.head_weights import SHIPPED
from tests.memory_peak import Peak

MOST_MIB = 16.0
LARGE = 96 << 20
Read = Callable[[Path], object]


def enrolment(folder: Path) -> None:
    weight = np.zeros(LARGE // 4, np.float32)
    (folder / ENROLLED).parent.mkdir()
    np.savez_compressed(folder / ENROLLED, weight=weight, bias=weight[:3], model=np.array("x"))


def echo(folder: Path) -> None:
    taps = np.zeros(LARGE // 4, np.float32)
    (folder / echo_store.FILE).parent.mkdir()
    np.savez_compressed(folder / echo_store.FILE, taps=taps, key=np.array("x"))


def tensors(folder: Path) -> None:
    """A header of 4 MB with 400,000 entries."""
    header = ("{" + ",".join(f'"{number:x}":0' for number in range(400_000)) + "}").encode()
    (folder / "x").write_bytes(struct.pack("<Q", len(header)) + header)


def open_tensors(folder: Path) -> object:
    with (folder / "x").open("rb") as file:
        return SafeTensors(folder / "x", file)


def voice(folder: Path) -> None:
    (folder / "x.onnx.json").write_bytes(b"[" + b"{}," * (2 << 20) + b"{}]")


def tokens(folder: Path) -> None:
    (folder / "x").write_text("".join(f"{number:x} 1\n" for number in range(500_000)))


def head(folder: Path) -> None:
    shutil.copytree(SHIPPED, folder, dirs_exist_ok=True)
    os.truncate(folder / "read.onnx", LARGE)


READERS: dict[str, tuple[Callable[[Path], None], Read]] = {
    "an enrolment": (enrolment, adaptation.load),
    "an echo path": (echo, lambda folder: echo_store.load(folder, "x", 320)),
    "a codec's weights": (tensors, open_tensors),
    "a voice's settings": (voice, lambda folder: piper_language(folder / "x.onnx")),
    "a recogniser's tokens": (tokens, lambda folder: sherpa_backend.read_tokens(folder / "x")),
    "a speech head": (head, read_head_manifest),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.long
def test_a_hostile_file_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    write, read = READERS[name]
    write(tmp_path)
    peak, found = Peak(), None
    with contextlib.suppress(InterludeError):  # the language of a voice is unknown without one
        found = read(tmp_path)
    assert not found
    assert peak.mib < MOST_MIB
