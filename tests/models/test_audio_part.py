"""The audio part of an encoder: what llama.cpp makes of it, and what the check finds."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.errors import ModelError, StorageError
from appliance.models import audio_part
from appliance.models.audio_part import Types, read_head
from appliance.models.catalogue import Form
from appliance.models.local_model import Sampling
from appliance.think.gemma import Gemma
from tests.models import encoder
from tests.think import tiny


def part(source: Path, form: Form = "f16") -> Path:
    target = source.with_name(f"{form}.gguf")
    audio_part.write_audio_part(source, target, form, lambda done: None)
    return target


def numbers(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    with path.open("rb") as file:
        return {t.name: audio_part.numbers(t, t.read(file)) for t in read_head(path).tensors}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.gguf"
    tiny.write_text(path)
    return path


def heard(text: Path, audio: Path) -> np.ndarray[Any, Any]:
    model = Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling())
    try:
        return model.encode(np.random.default_rng(5).normal(0, 3000, 32_000).astype(np.int16))
    finally:
        model.close()


@pytest.mark.parametrize("kind", [Types.F32, Types.F16])
def test_the_part_hears_what_the_file_without_vision_hears_bit_for_bit(
    tmp_path: Path, text: Path, kind: Any
) -> None:
    made = part(encoder.write(tmp_path / "both.gguf", kind))
    alone = encoder.write(tmp_path / "alone.gguf", kind, vision=False)
    assert np.array_equal(heard(text, made), heard(text, alone))


def test_nothing_of_the_vision_part_is_left_and_all_of_the_audio_part(tmp_path: Path) -> None:
    source = encoder.write(tmp_path / "both.gguf")
    was, now = read_head(source), read_head(part(source))
    names = [tensor.name for tensor in now.tensors]
    assert {tensor.name for tensor in was.tensors} - set(names) == {
        "v.patch_embd.weight", "v.blk.0.attn_q.weight", "mm.input_projection.weight"
    }  # fmt: skip
    gone = {name for name in was.keys if name not in now.keys}
    assert gone == {name for name in was.keys if name.startswith("clip.vision.")} != set()
    changed = {name for name in now.keys if now.keys[name] != was.keys[name]}
    assert changed == {"clip.has_vision_encoder"}
    assert now.keys["general.tags"][0] == ["any-to-any", "small"]


def test_bf16_becomes_f16_of_the_same_numbers(tmp_path: Path, text: Path) -> None:
    source = encoder.write(tmp_path / "both.gguf", Types.BF16)
    made = part(source)
    was, now = numbers(source), numbers(made)
    assert {str(t.kind.name) for t in read_head(made).tensors} == {"F32", "F16"}
    for name, values in now.items():
        large = np.abs(was[name]) >= 2.0**-14
        assert np.array_equal(values[large], was[name][large])
        assert np.abs(values - was[name]).max() <= 2.0**-25
    assert np.isfinite(heard(text, made)).all()


def test_q8_0_hears_nearly_the_same_from_half_the_bytes(tmp_path: Path, text: Path) -> None:
    made = part(encoder.write(tmp_path / "both.gguf"))
    small = part(made, "q8_0")  # of the part itself: the whole file is gone by then
    assert small.stat().st_size < 0.75 * made.stat().st_size
    assert {str(t.kind.name) for t in read_head(small).tensors} == {"F32", "Q8_0"}
    fine, coarse = heard(text, made), heard(text, small)
    assert 0 < np.linalg.norm(coarse - fine) < 0.05 * np.linalg.norm(fine)


def test_numbers_that_f16_cannot_hold_are_refused(tmp_path: Path) -> None:
    source = encoder.write(tmp_path / "both.gguf", Types.BF16, gain=1e7)
    with pytest.raises(StorageError, match="differs from its source"):
        part(source)


@pytest.mark.parametrize("form", ["f16", "q8_0"])
@pytest.mark.parametrize("kind", [Types.F16, Types.BF16])
@pytest.mark.long
def test_one_other_bit_in_any_tensor_is_found(tmp_path: Path, kind: Any, form: Form) -> None:
    source = encoder.write(tmp_path / "both.gguf", kind)
    target = part(source, form)
    keys, tensors = audio_part._selected(source, read_head(source), form)
    for tensor in read_head(target).tensors:
        with target.open("r+b") as file, mmap.mmap(file.fileno(), 0) as bytes_:
            at = tensor.at + tensor.size - 1  # sign and exponent of the last number, or its all
            bytes_[at] ^= 0x40
            with pytest.raises(StorageError, match=r"differs from its source.*dmesg"):
                audio_part._check(source, target, keys, tensors, form, lambda done: None)
            bytes_[at] ^= 0x40
    audio_part._check(source, target, keys, tensors, form, lambda done: None)


def test_a_file_without_an_audio_encoder_or_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.gguf"
    tiny.write_text(text)
    with pytest.raises(ModelError, match="no audio encoder"):
        part(text)
    for damage in (b"", b"GGUF", b"Dear reader," * 99, text.read_bytes()[:200]):
        (tmp_path / "bad.gguf").write_bytes(damage)
        with pytest.raises(ModelError, match="not a GGUF file"):
            part(tmp_path / "bad.gguf")


@pytest.mark.process
def test_a_disk_that_is_full_is_an_error_of_the_disk(tmp_path: Path) -> None:
    """A limit on the size of files, as the kernel enforces one."""
    source = encoder.write(tmp_path / "both.gguf")
    script = (
        "import resource, sys; from pathlib import Path; from appliance.models import audio_part\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "source, target = map(Path, sys.argv[1:])\n"
        "try: audio_part.write_audio_part(source, target, 'f16', lambda done: None)\n"
        "except OSError as error: print(error.strerror)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, source, tmp_path / "part.gguf"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "File too large"
