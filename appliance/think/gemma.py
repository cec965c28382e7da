"""Gemma 4 through llama.cpp's own API: loading it, llama.cpp's audio encoder, and sampling.

In: tokens, sound, a position to roll back to. Out: tokens. This module does not handle
conversations. A failed assertion in llama.cpp ends the process, so the inputs are checked here
first; the model runs in its own process for the same reason.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.models.encoder_graph.spectrum import TOKEN_SAMPLES
from appliance.models.local_model import Sampling
from appliance.pcm import RATE_HZ
from appliance.think import llama_library
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.compute_callback import ComputeCallback
from appliance.think.context import LlamaContext, Rows
from appliance.think.encoded_sound import EncodedSound, SoundEncoder
from appliance.think.llama_library import llama, mtmd
from appliance.think.mapped_memory import release_pages
from appliance.think.vocabulary import Vocabulary

__all__ = ["Gemma", "Rows"]

LONGEST_SAMPLES = 30 * RATE_HZ  # llama.cpp's preprocessor cuts longer sound without an error


class Gemma(LlamaContext):
    """One model with its context (context.py) and its audio encoder.

    All methods but `interrupt` and `resume` must be called from one thread.
    """

    def __init__(
        self,
        text: Path,
        audio: Path,
        *,
        context_tokens: int,
        threads: int,
        sampling: Sampling,
        seed: int = 0,
        encoder: SoundEncoder | None = None,
    ) -> None:
        """Load the model. `seed` 0: a new seed each time. `encoder`: replaces llama.cpp's, which
        is then not loaded. Raises ModelError for unusable files."""
        super().__init__()
        self._model: Any = None
        self._audio_encoder: Any = None
        self._streaming = encoder
        self._sampler: Any = None
        self._compute_callback = ComputeCallback(lambda: self.interrupted)
        # C code refers to it, so it must not be garbage-collected.
        self._c_callback = llama.ggml_backend_sched_eval_callback(self._compute_callback)
        llama_library.clear_log()
        try:
            self._load_text(text)
            self.open(self._model, context_tokens, threads)
            if encoder is None:
                self._load_audio(audio, threads)
            elif encoder.width != self.width:
                raise ModelError(f"{audio} is the audio encoder of another model than {text}.")
            release_pages(text)  # llama.cpp has its own copy of most of the file
        except ModelError:
            self.close()
            raise
        self._sampler = _sampler(sampling, seed)

    @property
    def model(self) -> Any:
        """llama.cpp's handle of the weights, for another context that shares them."""
        return self._model

    def _load_text(self, path: Path) -> None:
        _readable(path)
        parameters = llama.llama_model_default_params()
        parameters.n_gpu_layers = 0
        # Half of the file is loaded lazily, each row when it is used.
        parameters.lazy_mode = llama.LLAMA_LAZY_MODE_ON
        self._model = llama.llama_model_load_from_file(os.fsencode(path), parameters)
        if not self._model:
            raise _unusable(path)
        kind = ctypes.create_string_buffer(64)
        llama.llama_model_meta_val_str(self._model, b"general.architecture", kind, len(kind))
        if kind.value != b"gemma4":
            found = kind.value.decode(errors="replace")
            raise ModelError(
                f"{path} holds a model of the kind {found}, not a Gemma 4.",
                "Choose another with `thinking.model`.",
            )
        self.vocabulary = Vocabulary(self._model)
        self.width = llama.llama_model_n_embd(self._model)
        self.layers = llama.llama_model_n_layer(self._model)

    def _load_audio(self, path: Path, threads: int) -> None:
        _readable(path)
        parameters = mtmd.mtmd_context_params_default()
        parameters.use_gpu = False
        parameters.print_timings = False
        parameters.warmup = False
        parameters.n_threads = threads
        # The callback takes the GIL some 2,000 times a clip; no other thread here is busy.
        parameters.cb_eval = self._c_callback
        self._audio_encoder = mtmd.mtmd_init_from_file(os.fsencode(path), self._model, parameters)
        if not self._audio_encoder:
            raise _unusable(path)
        if not mtmd.mtmd_support_audio(self._audio_encoder):
            raise ModelError(f"{path} has no audio encoder: it is for pictures only.")
        rate_hz = mtmd.mtmd_get_audio_sample_rate(self._audio_encoder)
        if rate_hz != RATE_HZ:
            raise ModelError(f"{path} hears at {rate_hz} Hz, the box at {RATE_HZ} Hz.")

    def close(self) -> None:
        """Free everything; safe to call twice."""
        if self._sampler:
            llama.llama_sampler_free(self._sampler)
        if self._audio_encoder:
            mtmd.mtmd_free(self._audio_encoder)
        super().close()
        if self._model:
            llama.llama_model_free(self._model)
        self._sampler = self._audio_encoder = self._model = None

    @property
    def progress(self) -> int:
        """Rises with every evaluated token and several times while a clip is encoded."""
        steps = self._compute_callback.steps if self._streaming is None else self._streaming.steps
        return self.read + steps

    def interrupt(self) -> None:
        super().interrupt()
        if self._streaming is not None:
            self._streaming.interrupt()

    def resume(self) -> None:
        super().resume()
        if self._streaming is not None:
            self._streaming.resume()

    def tokenize(self, text: str, *, marks: bool) -> list[int]:
        """Return the tokens of `text`. With `marks`, special tokens spelled out are recognised."""
        return self.vocabulary.tokenize(text, marks=marks)

    def piece(self, token: int) -> bytes:
        """Return the token's UTF-8 bytes, which may be a part of a character; b"" for a mark."""
        return self.vocabulary.piece(token)

    def is_end(self, token: int) -> bool:
        """Whether the model ends its answer with this token."""
        return self.vocabulary.is_end(token)

    def encode_sound(
        self, samples: npt.NDArray[Any], prefix: EncodedSound | None = None, *, whole: bool = True
    ) -> EncodedSound:
        """Encode a clip so far; see SoundEncoder. llama.cpp's encoder has no state: it encodes the
        complete clip each time. All tokens but the newest are final."""
        if self.interrupted:
            raise AnswerAbandoned
        if self._streaming is not None:
            return self._streaming.encode(samples, prefix, whole=whole)
        rows = self.encode(samples)
        return EncodedSound(rows, max(0, len(rows) - 1), whole=True)

    def encode(self, samples: npt.NDArray[Any]) -> Rows:
        """Encode sound at 16 kHz, int16 or float32 in -1 to 1; no tokens for no samples.

        For llama.cpp's encoder, sound of more than 30 s is split into equal pieces. Raises
        ModelError for samples that are not finite, AnswerAbandoned when interrupted.
        """
        if self._streaming is not None:
            return self._streaming.encode(samples).rows
        sound = samples.astype(np.float32)
        if samples.dtype == np.int16:
            sound /= 32768.0
        if not np.isfinite(sound).all():
            raise ModelError("The sound holds values that are no numbers.")
        pieces = np.array_split(sound, -(-len(sound) // LONGEST_SAMPLES) or 1)
        rows = [self._encode_piece(piece) for piece in pieces if len(piece)]
        return np.concatenate(rows) if rows else np.empty((0, self.width), np.float32)

    def _encode_piece(self, sound: npt.NDArray[np.float32]) -> Rows:
        # llama.cpp fails an assertion for one sample and reports an error for none, so the sound is
        # padded to the length of one token.
        sound = np.ascontiguousarray(np.pad(sound, (0, max(0, TOKEN_SAMPLES - len(sound)))))
        chunks = mtmd.mtmd_input_chunks_init()
        pointer = sound.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        bitmap = mtmd.mtmd_bitmap_init_from_audio(len(sound), pointer)
        try:
            marker = mtmd.mtmd_default_marker()
            text = mtmd.mtmd_input_text(marker, len(marker), False, True)
            bitmaps = (mtmd.mtmd_bitmap_p_ctypes * 1)(bitmap)
            if mtmd.mtmd_tokenize(self._audio_encoder, chunks, ctypes.byref(text), bitmaps, 1):
                raise ModelError(
                    f"The sound cannot be prepared ({llama_library.first_complaint()})."
                )
            return np.concatenate([
                self._encode_chunk(chunk)
                for at in range(mtmd.mtmd_input_chunks_size(chunks))
                if (chunk := mtmd.mtmd_input_chunks_get(chunks, at))
                and mtmd.mtmd_input_chunk_get_type(chunk) == mtmd.MTMD_INPUT_CHUNK_TYPE_AUDIO
            ])  # fmt: skip
        finally:
            mtmd.mtmd_bitmap_free(bitmap)
            mtmd.mtmd_input_chunks_free(chunks)

    def _encode_chunk(self, chunk: Any) -> Rows:
        if self.interrupted:
            raise AnswerAbandoned
        count = mtmd.mtmd_input_chunk_get_n_tokens(chunk)
        self._compute_callback.start_graph()
        failed = mtmd.mtmd_encode_chunk(self._audio_encoder, chunk)
        if self._compute_callback.stopped:
            # the output is incomplete, though llama.cpp reports success
            raise AnswerAbandoned
        if failed:
            raise ModelError(f"The sound cannot be encoded ({llama_library.first_complaint()}).")
        output = mtmd.mtmd_get_output_embd(self._audio_encoder)
        return np.ctypeslib.as_array(output, (count, self.width)).copy()

    def sample(self) -> int:
        """Sample the next token; call after `evaluate(…, last=True)`."""
        return int(llama.llama_sampler_sample(self._sampler, self._context, -1))

    def copy_sampler(self) -> Any:
        """Return a copy of the sampler, for `replace_sampler` or `free_sampler`."""
        return llama.llama_sampler_clone(self._sampler)

    def replace_sampler(self, copy: Any) -> None:
        """Restore the sampler to `copy`, and with it the random state of that time."""
        llama.llama_sampler_free(self._sampler)
        self._sampler = copy

    def free_sampler(self, copy: Any) -> None:
        llama.llama_sampler_free(copy)


def _sampler(sampling: Sampling, seed: int) -> Any:
    chain = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
    if sampling.temperature <= 0:
        steps = [llama.llama_sampler_init_greedy()]
    else:
        steps = [
            llama.llama_sampler_init_top_k(sampling.top_k),
            llama.llama_sampler_init_top_p(sampling.top_p, 1),
            llama.llama_sampler_init_temp(sampling.temperature),
            llama.llama_sampler_init_dist(seed or llama.LLAMA_DEFAULT_SEED),
        ]
    for step in steps:
        llama.llama_sampler_chain_add(chain, step)
    return chain


def _readable(path: Path) -> None:
    if not path.is_file():
        raise ModelError(f"The model file {path} is missing.", "Run `interlude models fetch`.")
    if not os.access(path, os.R_OK):
        raise ModelError(f"The model file {path} may not be read.", f"Run `chmod a+r {path}`.")


def _unusable(path: Path) -> ModelError:
    return ModelError(
        f"{path} is not a model that can be used ({llama_library.first_complaint()}).",
        "Fetch it again with `interlude models fetch`.",
    )
