"""Gemma 4 through llama.cpp's own API, which only this file and vocabulary.py import.

In: tokens, sound, a position to go back to. Out: tokens. It knows nothing of conversations.
llama.cpp ends the process when an assertion of its fails, so everything that could trip one is
checked here first; and still the model has a process of its own.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.processes import RATE_HZ
from appliance.think.model import Abandoned, Sampling
from appliance.think.watch import Watch

# Threads that spin at barriers cost 2 to 5 times in speed beside one busy neighbour (measured).
# OpenMP reads this once, when llama.cpp is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import llama_cpp as llama
import llama_cpp.mtmd_cpp as mtmd

from appliance.think.resident import give_back
from appliance.think.vocabulary import Vocabulary

Rows = npt.NDArray[np.float32]  # [soft tokens, width of the model]

BATCH = 512  # tokens a call: the same for batches and what is computed at once
TOKEN_SAMPLES = 640  # of sound a soft token stands for: 25 a second
LONGEST_SAMPLES = 30 * RATE_HZ  # the preprocessor would cut longer ones silently
_ABORTED = 2  # llama_decode: the abort callback said so
_ERROR = 4  # ggml_log_level
_SEQUENCE = 0

_native_errors: deque[str] = deque(maxlen=20)


def _take_log(level: int, text: bytes, _: object) -> None:
    if level == _ERROR:
        _native_errors.append(text.decode(errors="replace").strip())


_log_callback = llama.llama_log_callback(_take_log)  # must outlive every call


class Gemma:
    """One model, one sequence.

    `position` counts the tokens that it holds.
    All methods belong to one thread, but for `interrupt` and `resume`.
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
    ) -> None:
        """Load. `seed` 0 is a new one each time. Raises ModelError for files that do not serve."""
        self._model: Any = None
        self._context: Any = None
        self._ears: Any = None
        self._sampler: Any = None
        self._abort = ctypes.create_string_buffer(2)
        self._watch = Watch(lambda: self.interrupted)
        self._look_on = llama.ggml_backend_sched_eval_callback(self._watch)  # as long as the ears
        self.position = 0
        self._read = 0
        llama.llama_log_set(_log_callback, ctypes.c_void_p(0))
        mtmd.mtmd_log_set(_log_callback, ctypes.c_void_p(0))
        mtmd.mtmd_helper_log_set(_log_callback, ctypes.c_void_p(0))
        _native_errors.clear()
        llama.llama_backend_init()
        try:
            self._load_text(text)
            self._make_context(context_tokens, threads)
            self._load_audio(audio, threads)
            give_back(text)  # llama.cpp has its own copy of most of it
        except ModelError:
            self.close()
            raise
        self._sampler = _sampler(sampling, seed)

    # ── loading ──────────────────────────────────────────────────────────────────────────────
    def _load_text(self, path: Path) -> None:
        _readable(path)
        parameters = llama.llama_model_default_params()
        parameters.n_gpu_layers = 0
        parameters.lazy_mode = llama.LLAMA_LAZY_MODE_ON  # half of the file: a row where it is used
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
        self.window = llama.llama_model_n_swa(self._model)

    def _make_context(self, tokens: int, threads: int) -> None:
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = min(tokens, llama.llama_model_n_ctx_train(self._model))
        parameters.n_batch = parameters.n_ubatch = min(BATCH, parameters.n_ctx)
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.flash_attn_type = 1
        parameters.swa_full = True  # else going back past the window is silently wrong
        # A Python callback would take the GIL some 900 times a token. libc's strlen takes none:
        # of a buffer that holds "" it is 0, go on; of one that holds "x" it is 1, stop.
        strlen = ctypes.CDLL(None).strlen
        parameters.abort_callback = ctypes.cast(strlen, llama.ggml_abort_callback)
        parameters.abort_callback_data = ctypes.addressof(self._abort)
        self._context = llama.llama_init_from_model(self._model, parameters)
        if not self._context:
            raise ModelError(
                f"There is no room for {tokens} tokens of context ({_reason()}).",
                "Lower `thinking.context_tokens`.",
            )
        self._memory = llama.llama_get_memory(self._context)
        self.context_tokens = int(llama.llama_n_ctx(self._context))

    def _load_audio(self, path: Path, threads: int) -> None:
        _readable(path)
        parameters = mtmd.mtmd_context_params_default()
        parameters.use_gpu = False
        parameters.print_timings = False
        parameters.warmup = False
        parameters.n_threads = threads
        # Python takes the GIL for it some 2,000 times a clip; nobody else in this process is busy.
        parameters.cb_eval = self._look_on
        self._ears = mtmd.mtmd_init_from_file(os.fsencode(path), self._model, parameters)
        if not self._ears:
            raise _unusable(path)
        if not mtmd.mtmd_support_audio(self._ears):
            raise ModelError(f"{path} has no ears: it is for pictures only.")
        rate_hz = mtmd.mtmd_get_audio_sample_rate(self._ears)
        if rate_hz != RATE_HZ:
            raise ModelError(f"{path} hears at {rate_hz} Hz, the box at {RATE_HZ} Hz.")

    def close(self) -> None:
        """Give everything back; safe to call twice."""
        if self._sampler:
            llama.llama_sampler_free(self._sampler)
        if self._ears:
            mtmd.mtmd_free(self._ears)
        if self._context:
            llama.llama_free(self._context)
        if self._model:
            llama.llama_model_free(self._model)
        self._sampler = self._ears = self._context = self._model = None

    @property
    def pulse(self) -> int:
        """Rises with every token read, and several times with each clip while it is encoded."""
        return self._read + self._watch.steps

    # ── words and sound ──────────────────────────────────────────────────────────────────────
    def tokenize(self, text: str, *, marks: bool) -> list[int]:
        """The tokens of `text`. With `marks`, special tokens written out count as such."""
        return self.vocabulary.tokenize(text, marks=marks)

    def piece(self, token: int) -> bytes:
        """What `token` stands for, in UTF-8 that may be cut anywhere; nothing for a mark."""
        return self.vocabulary.piece(token)

    def is_end(self, token: int) -> bool:
        """Whether the model ends its answer with this token."""
        return self.vocabulary.is_end(token)

    def encode(self, samples: npt.NDArray[Any]) -> Rows:
        """Soft tokens of sound at 16 kHz, int16 or float32 in -1 to 1; none for no sound.

        More than 30 s is heard in equal pieces. Raises ModelError for what is not sound, Abandoned
        when interrupted.
        """
        sound = samples.astype(np.float32)
        if samples.dtype == np.int16:
            sound /= 32768.0
        if not np.isfinite(sound).all():
            raise ModelError("The sound holds values that are no numbers.")
        pieces = np.array_split(sound, -(-len(sound) // LONGEST_SAMPLES) or 1)
        rows = [self._encode_piece(piece) for piece in pieces if len(piece)]
        return np.concatenate(rows) if rows else np.empty((0, self.width), np.float32)

    def _encode_piece(self, sound: npt.NDArray[np.float32]) -> Rows:
        # One sample trips an assertion, none is an error: a token's worth is the least.
        sound = np.ascontiguousarray(np.pad(sound, (0, max(0, TOKEN_SAMPLES - len(sound)))))
        chunks = mtmd.mtmd_input_chunks_init()
        pointer = sound.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        bitmap = mtmd.mtmd_bitmap_init_from_audio(len(sound), pointer)
        try:
            marker = mtmd.mtmd_default_marker()
            text = mtmd.mtmd_input_text(marker, len(marker), False, True)
            bitmaps = (mtmd.mtmd_bitmap_p_ctypes * 1)(bitmap)
            if mtmd.mtmd_tokenize(self._ears, chunks, ctypes.byref(text), bitmaps, 1):
                raise ModelError(f"The sound cannot be prepared ({_reason()}).")
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
            raise Abandoned
        count = mtmd.mtmd_input_chunk_get_n_tokens(chunk)
        self._watch.begin()
        failed = mtmd.mtmd_encode_chunk(self._ears, chunk)
        if self._watch.stopped:
            raise Abandoned  # what came out is of no use, though llama.cpp says that all is well
        if failed:
            raise ModelError(f"The sound cannot be encoded ({_reason()}).")
        output = mtmd.mtmd_get_output_embd(self._ears)
        return np.ctypeslib.as_array(output, (count, self.width)).copy()

    # ── reading and drawing ──────────────────────────────────────────────────────────────────
    def feed(self, content: Sequence[int] | Rows, *, last: bool = False) -> None:
        """Read tokens or soft tokens. After the `last` ones the next token can be drawn.

        Raises Abandoned when interrupted: `position` then says how much is held. Of all but the
        last token only the output layer is left out, though half of the others serve it alone.
        """
        if self.position + len(content) > self.context_tokens:
            raise ModelError(
                f"{self.position + len(content)} tokens do not fit into the model's "
                f"{self.context_tokens}.",
                "Raise `thinking.context_tokens` or lower `thinking.history_tokens`.",
            )
        for start in range(0, len(content), BATCH):
            part = content[start : start + BATCH]
            self._decode(part, wanted=last and start + len(part) == len(content))

    def _decode(self, content: Sequence[int] | Rows, *, wanted: bool) -> None:
        count = len(content)
        is_sound = isinstance(content, np.ndarray)
        batch = llama.llama_batch_init(count, self.width if is_sound else 0, 1)
        try:
            batch.n_tokens = count
            if is_sound:
                rows = np.ascontiguousarray(content, np.float32)
                ctypes.memmove(batch.embd, rows.ctypes.data, rows.nbytes)
            for at in range(count):
                if not is_sound:
                    batch.token[at] = content[at]
                batch.pos[at] = self.position + at
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = _SEQUENCE
                batch.logits[at] = int(wanted and at == count - 1)
            outcome = llama.llama_decode(self._context, batch)
        finally:
            llama.llama_batch_free(batch)
        if outcome:
            self.roll_back(self.position)  # what was half done
            if outcome == _ABORTED:
                raise Abandoned
            raise ModelError(f"The model failed with code {outcome} ({_reason()}).")
        self.position += count
        self._read += count

    def draw(self) -> int:
        """The next token, after `feed(…, last=True)`."""
        return int(llama.llama_sampler_sample(self._sampler, self._context, -1))

    def logits(self) -> npt.NDArray[np.float32]:
        """The weight of every token to be the next, after `feed(…, last=True)`."""
        count = self.vocabulary.size
        pointer: Any = llama.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, (count,)).copy()

    def roll_back(self, position: int) -> int:
        """Hold only the first `position` tokens, or none if that cannot be; says how many."""
        llama.llama_memory_seq_rm(self._memory, _SEQUENCE, position, -1)
        oldest = llama.llama_memory_seq_pos_min(self._memory, _SEQUENCE)
        if position and not 0 <= oldest <= max(0, position - self.window + 1):
            llama.llama_memory_clear(self._memory, True)
            position = 0
        self.position = position
        return position

    # ── from another thread ──────────────────────────────────────────────────────────────────
    def interrupt(self) -> None:
        """Make `feed` and `encode` raise Abandoned, now and until `resume`."""
        self._abort[0] = b"x"

    def resume(self) -> None:
        self._abort[0] = b"\0"

    @property
    def interrupted(self) -> bool:
        return self._abort[0] != b"\0"


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
        f"{path} is not a model that can be used ({_reason()}).",
        "Fetch it again with `interlude models fetch`.",
    )


def _reason() -> str:
    """The first thing that llama.cpp complained about: what follows it is only its echo."""
    line = _native_errors[0] if _native_errors else "no reason given"
    _native_errors.clear()
    return re.sub(r"^(?:\w+: )+(?:error loading model[\w ]*: )?", "", line).rstrip(".")
