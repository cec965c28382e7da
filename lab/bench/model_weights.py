"""Writes random weights in the shape of a Gemma 4, as files of full size.

In: a shape (model_shape.py), texts for the vocabulary, a folder. Out: a text model and an audio
encoder for llama.cpp. Their output is meaningless, but they are as large and as slow as the real
ones. Only some dozens of a tensor's rows are in memory at a time, never the complete tensor.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from appliance.errors import StorageError
from lab.bench import model_vocabulary
from lab.bench.model_shape import BLOCKS, Shape, Tensor, audio_tensors, bytes_of, text_tensors

TEXT, AUDIO = "synthetic-gemma-4-Q4_K_M.gguf", "synthetic-gemma-4-audio-F16.gguf"
# Distinct rows of a matrix, which are repeated, as generating random numbers is slow. A prime: with
# 64 all channels of the audio encoder were equal, and its norm turned them into zeros.
DIFFERENT_ROWS = 61
EMBEDDING_SPREAD = 0.05
SPARE_BYTES = 256 << 20  # kept free: for vocabulary, headers and writes of other programs
_SMALLEST_F16 = 6.2e-5  # smallest normal number, rounded up
_CONSTANTS = {"ones": 1.0, "zeros": 0.0, "half": 0.5, "forty": 40.0, "minus forty": -40.0}

Bytes = npt.NDArray[np.uint8]


def size(shape: Shape) -> int:
    """Bytes of both files, without their headers."""
    return bytes_of(text_tensors(shape)) + bytes_of(audio_tensors(shape))


def write(shape: Shape, folder: Path, texts: Iterable[str], seed: int = 1) -> tuple[Path, Path]:
    """Write the text model and the audio encoder unless they exist. Returns their paths.

    An existing file is complete, as it is renamed last. Raises StorageError if there is too little
    space, or the folder cannot be written.
    """
    text, audio = folder / TEXT, folder / AUDIO
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (text.exists() and audio.exists()):
            check_room(size(shape), shutil.disk_usage(folder).free, folder)
        if not text.exists():
            _write(text, _text_writer(shape, texts), list(text_tensors(shape)), seed)
        if not audio.exists():
            _write(audio, _audio_writer(shape), list(audio_tensors(shape)), seed + 1)
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(
            f"{folder}: the synthetic weights cannot be written ({error.strerror}).",
            "Name another folder with `--weights`.",
        ) from error
    return text, audio


def check_room(wanted: int, free: int, folder: Path) -> None:
    """Raises StorageError if `wanted` bytes and the spare ones exceed the `free` bytes."""
    if wanted + SPARE_BYTES > free:
        raise StorageError(
            f"{folder}: the synthetic weights take {(wanted + SPARE_BYTES) / 2**30:.1f} GiB, "
            f"and {free / 2**30:.1f} GiB are free.",
            "Name a folder on another disk with `--weights`, or the files of a real model with "
            "`--model` and `--audio`.",
        )


def _text_writer(shape: Shape, texts: Iterable[str]) -> Any:
    writer = gguf.GGUFWriter(None, "gemma4")
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_name("synthetic-gemma-4")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length([shape.inner_of(layer) for layer in range(shape.layers)])
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(1)
    writer.add_key_length(shape.head_full)
    writer.add_value_length(shape.head_full)
    writer.add_key_length_swa(shape.head_window)
    writer.add_value_length_swa(shape.head_window)
    writer.add_rope_dimension_count(shape.head_full)
    writer.add_rope_dimension_count_swa(shape.head_window)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_rope_freq_base_swa(10_000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_sliding_window(shape.window)
    writer.add_sliding_window_pattern([shape.has_window(layer) for layer in range(shape.layers)])
    writer.add_shared_kv_layers(shape.shared)
    writer.add_embedding_length_per_layer_input(shape.per_layer)
    writer.add_final_logit_softcapping(30.0)
    words = model_vocabulary.make(shape.vocabulary, texts)
    writer.add_tokenizer_model("gemma4")
    writer.add_token_list([token.encode() for token in words.tokens])
    writer.add_token_scores([0.0] * shape.vocabulary)
    writer.add_token_types(words.kinds)
    writer.add_token_merges(words.merges)
    writer.add_bos_token_id(model_vocabulary.BOS)
    writer.add_eos_token_id(model_vocabulary.END_OF_TURN)
    writer.add_unk_token_id(model_vocabulary.UNK)
    writer.add_pad_token_id(model_vocabulary.PAD)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    return writer


def _audio_writer(shape: Shape) -> Any:
    writer = gguf.GGUFWriter(None, "clip")
    writer.add_type(gguf.GGUFType.MMPROJ)
    writer.add_name("synthetic-gemma-4-audio")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_clip_has_audio_encoder(True)
    writer.add_clip_has_vision_encoder(False)
    writer.add_clip_audio_projector_type(gguf.VisionProjectorType.GEMMA4A)
    writer.add_audio_projection_dim(shape.width)
    writer.add_audio_embedding_length(shape.encoder_width)
    writer.add_audio_feed_forward_length(shape.encoder_inner)
    writer.add_audio_block_count(shape.encoder_layers)
    writer.add_audio_head_count(shape.encoder_heads)
    writer.add_audio_num_mel_bins(shape.mels)
    writer.add_audio_attention_layernorm_eps(1e-6)
    return writer


def _write(path: Path, writer: Any, tensors: list[Tensor], seed: int) -> None:
    """Write a file under another name and rename it when complete. Raises OSError."""
    part = path.with_suffix(".part")
    for tensor in tensors:
        # For data of dtype uint8 the package expects the shape in bytes.
        shape = [*tensor.shape[:-1], tensor.row_bytes]
        count = tensor.rows * tensor.row_bytes
        kind = gguf.GGMLQuantizationType[tensor.format]
        writer.add_tensor_info(tensor.name, shape, np.dtype(np.uint8), count, raw_dtype=kind)
    rng = np.random.default_rng(seed)
    try:
        writer.write_header_to_file(part)
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        (out,) = writer.fout
        writer.write_padding(out, out.tell())
        for tensor in tensors:
            for rows in _rows_of(tensor, rng):
                out.write(rows.data)  # the package's own function hides the error of a full disk
            writer.write_padding(out, tensor.rows * tensor.row_bytes)
        out.flush()
        os.fsync(out.fileno())
        writer.close()
        part.replace(path)
    except BaseException:
        writer.close()
        part.unlink(missing_ok=True)
        raise


def _rows_of(tensor: Tensor, rng: np.random.Generator) -> Iterator[Bytes]:
    """Yield the bytes of all rows of a tensor, `DIFFERENT_ROWS` rows at a time."""
    if tensor.fill == "rope":
        yield _as_bytes(_rope(tensor.shape[0]))
        return
    if tensor.fill != "random":
        yield _as_bytes(np.full(tensor.shape, _CONSTANTS[tensor.fill], np.float32))
        return
    different = min(tensor.rows, DIFFERENT_ROWS)
    rows = _random(tensor, different, rng)
    for start in range(0, tensor.rows, different):
        yield rows[: tensor.rows - start]


def _random(tensor: Tensor, rows: int, rng: np.random.Generator) -> Bytes:
    """uint8[rows, bytes of a row], scaled so that the activations between layers stay near 1."""
    fan_in = int(np.prod(tensor.shape[1:]))
    spread = EMBEDDING_SPREAD if "token_embd" in tensor.name else fan_in**-0.5
    block_size, block_bytes = BLOCKS[tensor.format]
    if block_size == 1:
        values = (spread * rng.standard_normal((rows, tensor.shape[-1]))).astype(np.float32)
        if tensor.format == "BF16":
            return _as_bytes((values.view(np.uint32) >> 16).astype(np.uint16)).reshape(rows, -1)
        dtype = np.float16 if tensor.format == "F16" else np.float32
        return _as_bytes(values.astype(dtype)).reshape(rows, -1)
    count = rows * tensor.shape[-1] // block_size
    blocks = rng.integers(0, 256, (count, block_bytes), np.uint8)
    # Block layouts: ggml-common.h. Divisors: the measured spread of random bits at a scale of 1.
    if tensor.format == "Q6_K":  # 4 low bits, 2 high bits, 16 scales of 8 bits, one of F16
        blocks[:, 192:208] = rng.integers(-16, 16, (count, 16)).astype(np.int8).view(np.uint8)
        blocks[:, 208:210] = _f16(spread / 170)
    else:  # scale and minimum in F16, then 6 bits of each for every 32 numbers, then the bits
        divisor, middle = (258, 7.5) if tensor.format == "Q4_K" else (530, 15.5)
        blocks[:, 0:2] = _f16(spread / divisor)
        blocks[:, 2:4] = _f16(middle * max(spread / divisor, _SMALLEST_F16))
    return blocks.reshape(rows, -1)


def _rope(count: int) -> npt.NDArray[np.float32]:
    """Frequency factors: 1 for the first quarter; 1e30 for the rest, which disables rotation."""
    angles = np.full(count, 1e30, np.float32)
    angles[: count // 4] = 1.0
    return angles


def _f16(value: float) -> Bytes:
    return _as_bytes(np.array([max(value, _SMALLEST_F16)], np.float16))


def _as_bytes(values: npt.NDArray[Any]) -> Bytes:
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1)
