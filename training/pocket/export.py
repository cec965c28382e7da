"""Write the trained networks as the two GGUF files that llama.cpp loads.

In: AudioEncoder, TextDecoder and Vocabulary. Out: pocket-text.gguf and pocket-audio.gguf, weights
in 16 bit floats, the convolutions and norms in 32.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import gguf
import numpy as np
import torch

from training.pocket.audio_encoder import AudioEncoder
from training.pocket.sound import Array
from training.pocket.text_decoder import TextDecoder
from training.pocket.vocabulary import BOS, TURN_END, Vocabulary

NAME, LICENCE = "interlude-pocket", "apache-2.0"
FAR = 1e30  # divisor that makes a rotation rate 0, for the unrotated part of a full layer's head
CHAT_TEMPLATE = """\
{{ bos_token }}{% for m in messages %}<|turn>{{ 'model' if m['role'] == 'assistant'\
 else m['role'] }}
{% for c in m['tool_calls'] or [] %}<|tool_call>call:{{ c['function']['name'] }}{{ '{' }}\
{% for k, v in c['function']['arguments'] | dictsort %}{{ k }}:\
{% if v is string %}<|"|>{{ v }}<|"|>{% else %}{{ v }}{% endif %}\
{% if not loop.last %},{% endif %}{% endfor %}}<tool_call|>{% endfor %}\
{% for r in m['tool_responses'] or [] %}<|tool_response>response:{{ r['name'] }}{{ '{' }}\
value:<|"|>{{ r['response'] }}<|"|>}<tool_response|>{% endfor %}\
{% if m['content'] is string %}{{ m['content'] | trim }}{% else %}\
{% for p in m['content'] %}\
{% if p['type'] == 'text' %}{{ p['text'] | trim }}{% endif %}\
{% if p['type'] == 'audio' %}<|audio|>{% endif %}\
{% endfor %}{% endif %}<turn|>
{% endfor %}{% if add_generation_prompt %}<|turn>model
{% endif %}"""

# a tensor's name in the file, the weights themselves, and the form in which they are stored
Named = Iterator[tuple[str, torch.Tensor, Callable[[torch.Tensor], Array]]]


def half(x: torch.Tensor) -> Array:
    array: Array = x.float().numpy().astype(np.float16)
    return array


def full(x: torch.Tensor) -> Array:
    return np.ascontiguousarray(x.float().numpy())


def text_tensors(decoder: TextDecoder) -> Named:
    """Each tensor of architecture gemma4. They share memory with the network."""
    c = decoder.config
    yield "token_embd.weight", decoder.words.weight.detach(), half
    yield "per_layer_token_embd.weight", decoder.layer_words.weight.detach(), half
    yield "per_layer_model_proj.weight", decoder.layer_project.weight.detach(), half
    yield "per_layer_proj_norm.weight", decoder.layer_norm.weight.detach(), full
    yield "output_norm.weight", decoder.norm.weight.detach(), full
    turning = int(c.head_full * c.rotated / 2)
    rates = torch.tensor([1.0] * turning + [FAR] * (c.head_full // 2 - turning))
    yield "rope_freqs.weight", rates, full
    for i, layer in enumerate(decoder.layers):
        names = {
            "attn_q": layer.q,
            "attn_output": layer.out,
            "ffn_gate": layer.gate,
            "ffn_up": layer.up,
            "ffn_down": layer.down,
            "inp_gate": layer.word_gate,
            "proj": layer.word_out,
        }
        norms = {
            "attn_norm": layer.norm,
            "attn_q_norm": layer.q_norm,
            "post_attention_norm": layer.post_norm,
            "ffn_norm": layer.inner_norm,
            "post_ffw_norm": layer.inner_post_norm,
            "post_norm": layer.word_norm,
        }
        if layer.has_keys:
            names |= {"attn_k": layer.k, "attn_v": layer.v}
            norms |= {"attn_k_norm": layer.k_norm}
        for name, module in names.items():
            yield f"blk.{i}.{name}.weight", module.weight.detach(), half
        for name, module in norms.items():
            yield f"blk.{i}.{name}.weight", module.weight.detach(), full
        yield f"blk.{i}.layer_output_scale.weight", layer.scale.detach(), full


def write_text(
    path: Path, decoder: TextDecoder, vocabulary: Vocabulary, context: int = 8192
) -> None:
    c, w = decoder.config, gguf.GGUFWriter(path, "gemma4")
    layers = range(c.layers)
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(NAME)
    w.add_license(LICENCE)
    w.add_context_length(context)
    w.add_embedding_length(c.width)
    w.add_block_count(c.layers)
    w.add_feed_forward_length([c.inner_width(i) for i in layers])
    w.add_head_count(c.heads)
    w.add_head_count_kv(1)
    w.add_key_length(c.head_full)
    w.add_value_length(c.head_full)
    w.add_key_length_swa(c.head_sliding)
    w.add_value_length_swa(c.head_sliding)
    w.add_rope_dimension_count(c.head_full)
    w.add_rope_dimension_count_swa(c.head_sliding)
    w.add_rope_freq_base(c.rope_full)
    w.add_rope_freq_base_swa(c.rope_sliding)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_sliding_window(c.window)
    w.add_sliding_window_pattern([c.is_sliding(i) for i in layers])
    w.add_shared_kv_layers(c.shared)
    w.add_embedding_length_per_layer_input(c.per_layer)
    w.add_final_logit_softcapping(c.cap)
    w.add_tokenizer_model("gemma4")
    w.add_token_list([t.encode() for t in vocabulary.tokens])
    w.add_token_scores([0.0] * len(vocabulary.tokens))
    w.add_token_types(vocabulary.types)
    w.add_token_merges([f"{a} {b}" for a, b in vocabulary.merges])
    w.add_bos_token_id(BOS)
    w.add_eos_token_id(TURN_END)
    w.add_unk_token_id(3)
    w.add_pad_token_id(0)
    w.add_add_bos_token(True)
    w.add_add_space_prefix(False)
    w.add_chat_template(CHAT_TEMPLATE)
    write(w, text_tensors(decoder))


def audio_tensors(encoder: AudioEncoder) -> Named:
    """Each tensor of projector gemma4a. They share memory with the network."""
    for i in range(2):
        yield f"a.conv1d.{i}.weight", encoder.subsampling.conv[i].weight.detach(), full
        yield f"a.conv1d.{i}.norm.weight", encoder.subsampling.norm[i].detach(), full
    yield "a.input_projection.weight", encoder.subsampling.project.weight.detach(), half
    for i, b in enumerate(encoder.blocks):
        a, conv, p = b.attention, b.convolution, f"a.blk.{i}."
        for tail, f in (("", b.first), ("_1", b.second)):
            yield f"{p}ffn_norm{tail}.weight", f.norm.weight.detach(), full
            yield f"{p}ffn_up{tail}.weight", f.up.weight.detach(), half
            yield f"{p}ffn_down{tail}.weight", f.down.weight.detach(), half
            yield f"{p}ffn_post_norm{tail}.weight", f.post_norm.weight.detach(), full
        for name, module in {
            "attn_q": a.q,
            "attn_k": a.k,
            "attn_v": a.v,
            "attn_out": a.out,
            "attn_k_rel": a.relative,
            "conv_pw1": conv.widen,
            "conv_pw2": conv.narrow,
        }.items():
            yield f"{p}{name}.weight", module.weight.detach(), half
        # llama.cpp swaps norm_conv and conv_norm when it loads them
        for name, module in {
            "attn_pre_norm": a.norm,
            "attn_post_norm": a.post_norm,
            "conv_norm": conv.norm,
            "norm_conv": conv.inner_norm,
            "ln2": b.norm,
        }.items():
            yield f"{p}{name}.weight", module.weight.detach(), full
        yield f"{p}per_dim_scale.weight", a.q_scale.detach(), full
        yield f"{p}conv_dw.weight", conv.depthwise.weight[:, 0].detach(), full
    yield "a.pre_encode.out.weight", encoder.out.weight.detach(), half
    yield "a.pre_encode.out.bias", encoder.out.bias.detach(), full
    yield "mm.a.input_projection.weight", encoder.to_text.weight.detach(), half


def write_audio(path: Path, encoder: AudioEncoder) -> None:
    c, w = encoder.config, gguf.GGUFWriter(path, "clip")
    w.add_type(gguf.GGUFType.MMPROJ)
    w.add_name(NAME)
    w.add_license(LICENCE)
    w.add_clip_has_audio_encoder(True)
    w.add_clip_has_vision_encoder(False)
    w.add_clip_audio_projector_type(gguf.VisionProjectorType.GEMMA4A)
    w.add_audio_projection_dim(c.text_width)
    w.add_audio_embedding_length(c.width)
    w.add_audio_feed_forward_length(c.inner)
    w.add_audio_block_count(c.blocks)
    w.add_audio_head_count(c.heads)
    w.add_audio_num_mel_bins(c.mels)
    w.add_audio_attention_layernorm_eps(1e-6)
    write(w, audio_tensors(encoder))


def write(w: gguf.GGUFWriter, tensors: Named) -> None:
    w.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for name, weights, stored in tensors:
        w.add_tensor(name, stored(weights))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def export(
    folder: Path, encoder: AudioEncoder, decoder: TextDecoder, vocabulary: Vocabulary
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "pocket-text.gguf", decoder, vocabulary)
    write_audio(folder / "pocket-audio.gguf", encoder)
