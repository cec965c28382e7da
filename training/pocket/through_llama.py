"""Runs the shipped GGUF pair in llama.cpp, the product's library, for measurements.

In: clips (16 kHz float32) or typed text, turn after turn. Out: the answer's text.
Uses llama-cpp-python's low-level API, because its chat handlers do not support audio.
"""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llama_cpp as llama
import llama_cpp.mtmd_cpp as mtmd
import numpy as np

from training.pocket.sound import Array

PERSONA = "You are Interlude, a voice in a small box. Answer in short spoken sentences."
TURN_END, LONGEST_ANSWER = 106, 220


@llama.llama_log_callback  # type: ignore[untyped-decorator]
def silent(level: int, text: bytes, data: object) -> None:
    pass


class Pocket:
    def __init__(
        self,
        folder: Path,
        context: int = 8192,
        threads: int = 1,
        greedy: bool = True,
        seed: int = 1,
    ) -> None:
        llama.llama_log_set(silent, None)
        mtmd.mtmd_helper_log_set(silent, None)
        self.model = llama.llama_model_load_from_file(
            str(folder / "pocket-text.gguf").encode(), llama.llama_model_default_params()
        )
        if not self.model:
            raise FileNotFoundError(f"no text model in {folder}")
        c = llama.llama_context_default_params()
        c.n_ctx, c.n_batch, c.n_ubatch, c.n_threads, c.n_threads_batch, c.swa_full = (
            context,
            512,
            512,
            threads,
            threads,
            True,
        )
        self.context = llama.llama_init_from_model(self.model, c)
        self.vocabulary = llama.llama_model_get_vocab(self.model)
        self.memory = llama.llama_get_memory(self.context)
        p = mtmd.mtmd_context_params_default()
        p.use_gpu, p.print_timings, p.n_threads, p.warmup = False, False, threads, False
        self.projector = mtmd.mtmd_init_from_file(
            str(folder / "pocket-audio.gguf").encode(), self.model, p
        )
        if not self.projector:
            raise FileNotFoundError(f"no audio model in {folder}")
        self.mark = mtmd.mtmd_default_marker().decode()
        self.sampler = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
        steps = (
            [llama.llama_sampler_init_greedy()]
            if greedy
            else [
                llama.llama_sampler_init_top_k(64),
                llama.llama_sampler_init_top_p(0.95, 1),
                llama.llama_sampler_init_temp(1.0),
                llama.llama_sampler_init_dist(seed),
            ]
        )
        for step in steps:
            llama.llama_sampler_chain_add(self.sampler, step)
        self.past = 0

    def close(self) -> None:
        mtmd.mtmd_free(self.projector)
        llama.llama_sampler_free(self.sampler)
        llama.llama_free(self.context)
        llama.llama_model_free(self.model)

    def forget(self, to: int = 0) -> None:
        """Drop everything after position `to`."""
        llama.llama_memory_seq_rm(self.memory, 0, to, -1)
        self.past = to

    def chunks(self, text: str, clips: Sequence[Array]) -> Any:
        """Text and soft-token places in the order of the prompt; the caller frees them."""
        bitmaps = []
        for clip in clips:
            samples = np.ascontiguousarray(clip, np.float32).ctypes.data_as(
                ctypes.POINTER(ctypes.c_float)
            )
            bitmaps.append(mtmd.mtmd_bitmap_init_from_audio(len(clip), samples))
        words, raw = mtmd.mtmd_input_text(), text.encode()
        words.text, words.text_len = raw, len(raw)
        words.add_special, words.parse_special = self.past == 0, True
        chunks = mtmd.mtmd_input_chunks_init()
        array = (mtmd.mtmd_bitmap_p_ctypes * len(bitmaps))(*bitmaps)
        failed = mtmd.mtmd_tokenize(
            self.projector, chunks, ctypes.byref(words), array, len(bitmaps)
        )
        for bitmap in bitmaps:
            mtmd.mtmd_bitmap_free(bitmap)
        if failed:
            raise RuntimeError(f"llama.cpp refused the prompt: {failed}")
        return chunks

    def read(self, text: str, clips: Sequence[Array] = ()) -> None:
        """Evaluate prompt text with one marker per clip."""
        chunks, past = self.chunks(text, clips), llama.llama_pos(self.past)
        failed = mtmd.mtmd_helper_eval_chunks(
            self.projector, self.context, chunks, self.past, 0, 512, True, ctypes.byref(past)
        )
        mtmd.mtmd_input_chunks_free(chunks)
        if failed:
            raise RuntimeError(f"llama.cpp could not read the prompt: {failed}")
        self.past = past.value

    def logits(self) -> Array:
        """The logits of the last evaluated position."""
        size = llama.llama_vocab_n_tokens(self.vocabulary)
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(self.context, -1), (size,)).copy()

    def soft_tokens(self, clip: Array) -> Array:
        """[tokens, width]: the audio encoder's output for the clip, without the text model."""
        chunks = self.chunks(self.mark, [clip])
        rows = []
        for i in range(mtmd.mtmd_input_chunks_size(chunks)):
            chunk = mtmd.mtmd_input_chunks_get(chunks, i)
            if mtmd.mtmd_input_chunk_get_type(chunk) == mtmd.MTMD_INPUT_CHUNK_TYPE_AUDIO:
                mtmd.mtmd_encode_chunk(self.projector, chunk)
                shape = (
                    mtmd.mtmd_input_chunk_get_n_tokens(chunk),
                    llama.llama_model_n_embd(self.model),
                )
                rows.append(
                    np.ctypeslib.as_array(mtmd.mtmd_get_output_embd(self.projector), shape).copy()
                )
        mtmd.mtmd_input_chunks_free(chunks)
        return np.concatenate(rows)

    def write(self, longest: int = LONGEST_ANSWER) -> str:
        """Sample the answer up to the end of the turn, or `longest` tokens, and return its text."""
        said, batch = b"", llama.llama_batch_init(1, 0, 1)
        piece = ctypes.create_string_buffer(64)
        for _ in range(longest):
            token = llama.llama_sampler_sample(self.sampler, self.context, -1)
            if token == TURN_END:
                break
            size = llama.llama_token_to_piece(self.vocabulary, token, piece, 64, 0, False)
            said += piece.raw[:size]
            batch.n_tokens, batch.token[0], batch.pos[0], batch.logits[0] = 1, token, self.past, 1
            batch.n_seq_id[0], batch.seq_id[0][0] = 1, 0
            if llama.llama_decode(self.context, batch):
                raise RuntimeError("llama.cpp could not decode")
            self.past += 1
        llama.llama_batch_free(batch)
        return said.decode(errors="replace")

    def begin(self, persona: str | None = PERSONA) -> None:
        self.forget()
        if persona:
            self.read(f"<|turn>system\n{persona}<turn|>\n")

    def hear(self, clips: Sequence[Array]) -> None:
        self.read(f"<|turn>user\n{self.mark * len(clips)}<turn|>\n<|turn>model\n", clips)

    def answer(self, clips: Sequence[Array], longest: int = LONGEST_ANSWER) -> str:
        """Evaluate the clips, sample the answer, and close the turn."""
        self.hear(clips)
        said = self.write(longest)
        self.read("<turn|>\n")
        return said

    def answer_typed(self, text: str, longest: int = LONGEST_ANSWER) -> str:
        self.read(f"<|turn>user\n{text}<turn|>\n<|turn>model\n")
        said = self.write(longest)
        self.read("<turn|>\n")
        return said
