"""Random weights in the shape of Gemma 4, small enough to load in a few milliseconds.

Same architecture switches as the real E2B (sliding and full layers, shared keys and values,
per-layer embeddings, audio by the gemma4a conformer), so everything but the quality of the text
can be tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

LAYERS, SHARED, PERIOD = 5, 2, 3  # of the 3 with their own keys, the last two: sliding, full
WIDTH, HEADS, HEAD_SLIDING, HEAD_FULL, INNER, PER_LAYER = 64, 2, 32, 64, 96, 16
VOCABULARY, WINDOW, CONTEXT = 640, 48, 4096
MELS, EARS_WIDTH, EARS_LAYERS, EARS_OUT = 64, 32, 2, 48

CONTROL, UNKNOWN, USER, NORMAL, BYTE, UNUSED = 3, 2, 4, 1, 6, 5
MARKS = {
    0: ("<pad>", CONTROL), 1: ("<eos>", CONTROL), 2: ("<bos>", CONTROL), 3: ("<unk>", UNKNOWN),
    48: ("<|tool_call>", USER), 49: ("<tool_call|>", USER),
    50: ("<|tool_response>", USER), 51: ("<tool_response|>", USER),
    100: ("<|channel>", USER), 101: ("<channel|>", USER),
    105: ("<|turn>", CONTROL), 106: ("<turn|>", CONTROL),
    111: ("<|audio>", CONTROL), 115: ("<audio|>", CONTROL),
}  # fmt: skip
ENDS = (1, 50, 106)  # tokens that llama.cpp takes for the end of an answer
WORDS = ["hello", "moon", "the", "tell", "me", "about", "is", "a", "big", "stone"]


def write(folder: Path) -> tuple[Path, Path]:
    """Write text and audio model; returns their paths."""
    text, audio = folder / "tiny-text.gguf", folder / "tiny-audio.gguf"
    write_text(text)
    write_audio(audio)
    return text, audio


def write_text(
    path: Path,
    architecture: str = "gemma4",
    per_layer: int = PER_LAYER,
    *,
    quantised: bool = False,
    marks: Mapping[int, tuple[str, int]] = MARKS,
) -> None:
    """`per_layer`: width of the per-layer embeddings. `quantised`: the layers' matrices are in
    Q4_0, which llama.cpp repacks when it loads them."""
    w = gguf.GGUFWriter(path, architecture)
    w.add_type(gguf.GGUFType.MODEL)
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length([INNER] * LAYERS)
    w.add_head_count(HEADS)
    w.add_head_count_kv(1)
    w.add_key_length(HEAD_FULL)
    w.add_value_length(HEAD_FULL)
    w.add_key_length_swa(HEAD_SLIDING)
    w.add_value_length_swa(HEAD_SLIDING)
    w.add_rope_dimension_count(HEAD_FULL)
    w.add_rope_dimension_count_swa(HEAD_SLIDING)
    w.add_rope_freq_base(1_000_000.0)
    w.add_rope_freq_base_swa(10_000.0)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_sliding_window(WINDOW)
    w.add_sliding_window_pattern([_sliding(i) for i in range(LAYERS)])
    w.add_shared_kv_layers(SHARED)
    w.add_embedding_length_per_layer_input(per_layer)
    w.add_final_logit_softcapping(30.0)
    _add_vocabulary(w, marks)
    _write(w, _text_tensors(np.random.default_rng(0), per_layer), quantised=quantised)


def write_audio(path: Path) -> None:
    w = gguf.GGUFWriter(path, "clip")
    add_audio_keys(w)
    w.add_clip_has_vision_encoder(False)
    _write(w, audio_tensors())


def audio_tensors() -> Iterator[Tensor]:
    """The audio encoder's tensors."""
    return _audio_tensors(np.random.default_rng(1))


def add_audio_keys(w: gguf.GGUFWriter) -> None:
    """Add the metadata of the audio encoder."""
    w.add_type(gguf.GGUFType.MMPROJ)
    w.add_clip_has_audio_encoder(True)
    w.add_clip_audio_projector_type(gguf.VisionProjectorType.GEMMA4A)
    w.add_audio_projection_dim(WIDTH)
    w.add_audio_embedding_length(EARS_WIDTH)
    w.add_audio_feed_forward_length(2 * EARS_WIDTH)
    w.add_audio_block_count(EARS_LAYERS)
    w.add_audio_head_count(2)
    w.add_audio_num_mel_bins(MELS)
    w.add_audio_attention_layernorm_eps(1e-6)


def _sliding(layer: int) -> bool:
    return (layer + 1) % PERIOD != 0


def _add_vocabulary(w: gguf.GGUFWriter, marks: Mapping[int, tuple[str, int]]) -> None:
    tokens = [f"<unused{i}>" for i in range(VOCABULARY)]
    types = [UNUSED] * VOCABULARY
    for at, (text, kind) in marks.items():
        tokens[at], types[at] = text, kind
    free = (at for at in range(VOCABULARY) if at not in marks)
    texts = [(f"<0x{b:02X}>", BYTE) for b in range(256)]
    texts += [(t, NORMAL) for t in ["\n", "\n\n", "▁", *map(chr, range(0x21, 0x7F))]]
    merges = []
    for word in WORDS:  # left to right: "▁m" "▁mo" …
        for length in range(1, len(word) + 1):
            merge = f"▁{word[: length - 1]} {word[length - 1]}"
            if merge not in merges:
                merges.append(merge)
                texts.append(("▁" + word[:length], NORMAL))
    for (text, kind), at in zip(texts, free, strict=False):
        tokens[at], types[at] = text, kind
    w.add_tokenizer_model("gemma4")
    w.add_token_list([token.encode() for token in tokens])
    w.add_token_scores([0.0] * VOCABULARY)
    w.add_token_types(types)
    w.add_token_merges(merges)
    w.add_bos_token_id(2)
    w.add_eos_token_id(106)
    w.add_unk_token_id(3)
    w.add_pad_token_id(0)
    w.add_add_bos_token(True)
    w.add_add_space_prefix(False)


Array = npt.NDArray[np.float32]
Tensor = tuple[str, Array]


def _norm(rng: np.random.Generator, size: int) -> Array:
    return (1 + 0.05 * rng.standard_normal(size)).astype(np.float32)


def _text_tensors(rng: np.random.Generator, per_layer: int) -> Iterator[Tensor]:
    def matrix(rows: int, columns: int, scale: float | None = None) -> Array:
        scale = columns**-0.5 if scale is None else scale
        return (scale * rng.standard_normal((rows, columns))).astype(np.float32)

    embeddings = matrix(VOCABULARY, WIDTH, 0.05)
    embeddings[list(ENDS)] = 0  # never the likeliest: a greedy answer runs to its limit
    yield "token_embd.weight", embeddings
    yield "per_layer_token_embd.weight", matrix(VOCABULARY, per_layer * LAYERS, 0.05)
    yield "per_layer_model_proj.weight", matrix(per_layer * LAYERS, WIDTH)
    yield "per_layer_proj_norm.weight", _norm(rng, per_layer)
    yield "output_norm.weight", _norm(rng, WIDTH)
    turning = HEAD_FULL // 8
    far = [1.0] * turning + [1e30] * (HEAD_FULL // 2 - turning)
    yield "rope_freqs.weight", np.array(far, np.float32)
    for layer in range(LAYERS):
        head = HEAD_SLIDING if _sliding(layer) else HEAD_FULL
        for name, tensor in {
            "attn_norm": _norm(rng, WIDTH),
            "attn_q": matrix(HEADS * head, WIDTH),
            "attn_k": matrix(head, WIDTH),
            "attn_v": matrix(head, WIDTH),
            "attn_output": matrix(WIDTH, HEADS * head),
            "attn_q_norm": _norm(rng, head),
            "attn_k_norm": _norm(rng, head),
            "post_attention_norm": _norm(rng, WIDTH),
            "ffn_norm": _norm(rng, WIDTH),
            "ffn_gate": matrix(INNER, WIDTH),
            "ffn_up": matrix(INNER, WIDTH),
            "ffn_down": matrix(WIDTH, INNER),
            "post_ffw_norm": _norm(rng, WIDTH),
            "inp_gate": matrix(per_layer, WIDTH),
            "proj": matrix(WIDTH, per_layer),
            "post_norm": _norm(rng, WIDTH),
            "layer_output_scale": np.full(1, 0.9, np.float32),
        }.items():
            yield f"blk.{layer}.{name}.weight", tensor


def _audio_tensors(rng: np.random.Generator) -> Iterator[Tensor]:
    def weight(*shape: int) -> Array:
        fan_in = int(np.prod(shape[1:]))
        return rng.normal(0, fan_in**-0.5, shape).astype(np.float32)

    d, inner, channels = EARS_WIDTH, 2 * EARS_WIDTH, 8
    yield "a.conv1d.0.weight", weight(channels, 1, 3, 3)
    yield "a.conv1d.0.norm.weight", _norm(rng, channels)
    yield "a.conv1d.1.weight", weight(channels, channels, 3, 3)
    yield "a.conv1d.1.norm.weight", _norm(rng, channels)
    yield "a.input_projection.weight", weight(d, MELS // 4 * channels)
    for layer in range(EARS_LAYERS):
        for name, tensor in {
            **{f"ffn_norm{t}": _norm(rng, d) for t in ("", "_1")},
            **{f"ffn_up{t}": weight(inner, d) for t in ("", "_1")},
            **{f"ffn_down{t}": weight(d, inner) for t in ("", "_1")},
            **{f"ffn_post_norm{t}": _norm(rng, d) for t in ("", "_1")},
            **{f"attn_{n}": weight(d, d) for n in ("q", "k", "v", "out", "k_rel")},
            **{f"attn_{n}_norm": _norm(rng, d) for n in ("pre", "post")},
            "per_dim_scale": _norm(rng, d // 2),
            "norm_conv": _norm(rng, d),
            "conv_norm": _norm(rng, d),
            "conv_pw1": weight(2 * d, d),
            "conv_dw": weight(d, 5),
            "conv_pw2": weight(d, d),
            "ln2": _norm(rng, d),
        }.items():
            yield f"a.blk.{layer}.{name}.weight", tensor
    yield "a.pre_encode.out.weight", weight(EARS_OUT, d)
    yield "a.pre_encode.out.bias", 0.02 * weight(EARS_OUT, 1)[:, 0]
    yield "mm.a.input_projection.weight", weight(WIDTH, EARS_OUT)


def _write(w: gguf.GGUFWriter, tensors: Iterator[Tensor], *, quantised: bool = False) -> None:
    small = gguf.GGMLQuantizationType.Q4_0
    for name, tensor in tensors:
        if quantised and name.startswith("blk.") and tensor.ndim == 2:
            w.add_tensor(name, gguf.quants.quantize(tensor, small), raw_dtype=small)
        else:
            w.add_tensor(name, tensor)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
