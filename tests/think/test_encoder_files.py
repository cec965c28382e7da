"""The streaming encoder's files: made once, remade when damaged; a failure is not fatal."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ModelError, StorageError
from appliance.models.encoder_graph.make import bytes_needed
from appliance.think import encoder_files
from appliance.think.encoder_files import SMALL_BYTES, best_form, open_encoder, prepare
from tests.models import encoder
from tests.think import tiny

SOUND = np.random.default_rng(0).normal(0, 3000, 8_000).astype(np.int16)


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    """An audio model as published: it contains an image encoder, too."""
    return encoder.write(tmp_path / "audio.gguf")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_files_are_made_once(audio: Path, tmp_path: Path) -> None:
    folder = tmp_path / "box/audio-encoder"
    graph = prepare(audio, folder)
    made, times = files(folder), {p: p.stat().st_mtime_ns for p in folder.iterdir()}
    assert sorted(Path(name).suffix for name in made) == [".data", ".json", ".onnx"]
    assert prepare(audio, folder) == graph
    assert {p: p.stat().st_mtime_ns for p in folder.iterdir()} == times
    assert folder.stat().st_mode & 0o777 == 0o700


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [cut, flip, Path.unlink])
@pytest.mark.parametrize("end", [".onnx", ".data", ".json"])
def test_damaged_files_are_made_again(
    audio: Path, tmp_path: Path, damage: Callable[[Path], None], end: str
) -> None:
    folder = tmp_path / "kept"
    graph = prepare(audio, folder)
    made = files(folder)
    damage(graph.with_suffix(end))
    assert prepare(audio, folder) == graph
    assert files(folder) == made


def test_files_of_another_model_or_form_replace_the_first(audio: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first = prepare(audio, folder)
    os.utime(audio, ns=(1, 1))  # another file of the same name and size
    second = prepare(audio, folder)
    third = prepare(audio, folder, "int8")
    assert len({first, second, third}) == 3
    assert {path.stem for path in folder.iterdir()} == {third.stem}


def test_incomplete_files_are_removed(audio: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "encoder-0123456789abcdef.data").write_bytes(bytes(1000))
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(audio.read_bytes()[:-20_000])
    with pytest.raises((ModelError, OSError)):
        prepare(damaged, folder)
    assert files(folder) == {}


def test_the_files_take_less_space_than_bytes_needed(audio: Path, tmp_path: Path) -> None:
    for form in ("fp32", "int8"):
        prepare(audio, tmp_path / form, form)
        taken = sum(len(data) for data in files(tmp_path / form).values())
        assert taken < bytes_needed(audio, form)


def test_a_full_disk_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    encoder_files._check_space(0, tmp_path)
    with pytest.raises(StorageError, match="MiB are free"):
        encoder_files._check_space(free, tmp_path)


def test_the_encoder_is_opened_without_a_warning(
    audio: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened = open_encoder(audio, tmp_path / "kept", 1)
    assert opened is not None
    assert opened.encode(SOUND).rows.shape == (13, tiny.WIDTH)
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_an_unknown_file_is_left_to_llama_cpp_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"Dear reader, this is not a model.\n" * 50)
    assert open_encoder(other, tmp_path / "kept", 1) is None
    assert open_encoder(tmp_path / "none.gguf", tmp_path / "kept", 1) is None
    warnings = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(warnings) == 2  # one per file
    assert all(sentence.startswith("no streaming audio encoder") for sentence in warnings)


def test_without_a_writable_folder_llama_cpp_is_used(audio: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file in the folder's place")
    assert open_encoder(audio, tmp_path / "kept", 1) is None


def test_a_large_encoder_uses_8_bits_or_7_where_8_saturate(
    tmp_path: Path,
) -> None:
    small, large, cpuinfo = tmp_path / "small", tmp_path / "large", tmp_path / "cpuinfo"
    small.write_bytes(b"small")
    with large.open("wb") as file:
        file.truncate(SMALL_BYTES)
    assert best_form(small) == "fp32"
    for flags, machine, form in [
        ("avx2 avx512_vnni", "x86_64", "int8"),
        ("avx2 avx_vnni", "x86_64", "int8"),
        ("avx2", "x86_64", "int7"),
        ("asimddp", "aarch64", "int8"),
    ]:
        cpuinfo.write_text(f"flags : {flags}\n")
        assert best_form(large, cpuinfo, machine) == form
