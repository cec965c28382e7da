"""The audio part of an encoder: how llama.cpp uses it, and what the check detects."""

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


def encoded(text: Path, audio: Path) -> np.ndarray[Any, Any]:
    model = Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling())
    try:
        return model.encode(np.random.default_rng(5).normal(0, 3000, 32_000).astype(np.int16))
    finally:
        model.close()


@pytest.mark.parametrize("kind", [Types.F32, Types.F16])
def test_the_part_encodes_audio_exactly_like_a_file_without_vision(
    tmp_path: Path, text: Path, kind: Any
) -> None:
    made = part(encoder.write(tmp_path / "both.gguf", kind))
    alone = encoder.write(tmp_path / "alone.gguf", kind, vision=False)
    assert np.array_equal(encoded(text, made), encoded(text, alone))


def test_the_part_has_all_audio_tensors_and_no_vision_tensors(tmp_path: Path) -> None:
    source = encoder.write(tmp_path / "both.gguf")
    before, after = read_head(source), read_head(part(source))
    names = [tensor.name for tensor in after.tensors]
    assert {tensor.name for tensor in before.tensors} - set(names) == {
        "v.patch_embd.weight", "v.blk.0.attn_q.weight", "mm.input_projection.weight"
    }  # fmt: skip
    gone = {name for name in before.keys if name not in after.keys}
    assert gone == {name for name in before.keys if name.startswith("clip.vision.")} != set()
    changed = {name for name in after.keys if after.keys[name] != before.keys[name]}
    assert changed == {"clip.has_vision_encoder"}
    assert after.keys["general.tags"][0] == ["any-to-any", "small"]


def test_bf16_is_converted_to_f16_with_the_same_values(tmp_path: Path, text: Path) -> None:
    source = encoder.write(tmp_path / "both.gguf", Types.BF16)
    made = part(source)
    before, after = numbers(source), numbers(made)
    assert {str(t.kind.name) for t in read_head(made).tensors} == {"F32", "F16"}
    for name, values in after.items():
        large = np.abs(before[name]) >= 2.0**-14
        assert np.array_equal(values[large], before[name][large])
        assert np.abs(values - before[name]).max() <= 2.0**-25
    assert np.isfinite(encoded(text, made)).all()


def test_q8_0_encodes_nearly_the_same_with_half_the_bytes(tmp_path: Path, text: Path) -> None:
    made = part(encoder.write(tmp_path / "both.gguf"))
    # Made from the part itself, because the source file is deleted by then.
    small = part(made, "q8_0")
    assert small.stat().st_size < 0.75 * made.stat().st_size
    assert {str(t.kind.name) for t in read_head(small).tensors} == {"F32", "Q8_0"}
    fine, coarse = encoded(text, made), encoded(text, small)
    assert 0 < np.linalg.norm(coarse - fine) < 0.05 * np.linalg.norm(fine)


def test_values_that_f16_cannot_represent_are_refused(tmp_path: Path) -> None:
    source = encoder.write(tmp_path / "both.gguf", Types.BF16, gain=1e7)
    with pytest.raises(StorageError, match="differs from its source"):
        part(source)


@pytest.mark.parametrize("form", ["f16", "q8_0"])
@pytest.mark.parametrize("kind", [Types.F16, Types.BF16])
@pytest.mark.long
def test_a_single_changed_bit_in_any_tensor_is_detected(
    tmp_path: Path, kind: Any, form: Form
) -> None:
    source = encoder.write(tmp_path / "both.gguf", kind)
    target = part(source, form)
    keys, tensors = audio_part._selected(source, read_head(source), form)
    for tensor in read_head(target).tensors:
        with target.open("r+b") as file, mmap.mmap(file.fileno(), 0) as bytes_:
            at = tensor.at + tensor.size - 1  # the last byte: sign and exponent of the last value
            bytes_[at] ^= 0x40
            with pytest.raises(StorageError, match=r"differs from its source.*dmesg"):
                audio_part._check(source, target, keys, tensors, form, lambda done: None)
            bytes_[at] ^= 0x40
    audio_part._check(source, target, keys, tensors, form, lambda done: None)


def test_a_file_without_an_audio_encoder_and_one_that_is_no_gguf_are_refused(
    tmp_path: Path,
) -> None:
    text = tmp_path / "text.gguf"
    tiny.write_text(text)
    with pytest.raises(ModelError, match="no audio encoder"):
        part(text)
    for damage in (b"", b"GGUF", b"Dear reader," * 99, text.read_bytes()[:200]):
        (tmp_path / "bad.gguf").write_bytes(damage)
        with pytest.raises(ModelError, match="not a GGUF file"):
            part(tmp_path / "bad.gguf")


@pytest.mark.process
def test_a_full_disk_is_reported_as_an_os_error(tmp_path: Path) -> None:
    """The kernel enforces a file size limit in place of a full disk."""
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
