"""Wraps llama.cpp's context: it holds two token sequences, one of which is selected.

In: runs of tokens and of soft tokens, a position to roll back to, the bytes of a state. Out: the
next token. Each sequence has its own part of the KV cache (18 KiB a token: `swa_full`, 16 bits).
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.think import llama_library
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.llama_library import llama

Rows = npt.NDArray[np.float32]  # [soft tokens, width of the model]
Run = Sequence[int] | Rows

# Tokens per call, computed as one batch. A larger batch is hardly faster per token, takes more
# memory and delays the progress counter: this one takes 9 s on a Pi, at an estimated 15 tokens/s.
BATCH = 128
# llama.cpp computes tokens in groups of this size and the remainder one by one: 15 tokens take
# longer than 16 (docs/benchmarks/model.md).
TOGETHER = 4
SEQUENCES = 2
_PADDING = 0  # token id of soft tokens in a mixed batch; a text token 0 would be taken for one
_ABORTED = 2  # llama_decode: ended by the abort callback


class LlamaContext:
    """`position` counts the tokens in the selected sequence; `read`, all tokens evaluated so far.

    All methods but `interrupt` and `resume` must be called from one thread.
    """

    # 10 to 33 % slower for the batches of a question (docs/benchmarks/model.md), and only needed
    # for keys and values of fewer than 16 bits.
    flash_attention = False

    def __init__(self, *, mixed: bool | None = None) -> None:
        """`mixed`: put text and soft tokens into one batch; None: if the library can."""
        library_can = llama_library.takes_tokens_and_embeddings
        self._mixed = library_can() if mixed is None else mixed
        self._context: Any = None
        self._abort = ctypes.create_string_buffer(2)
        self._positions = [0] * SEQUENCES
        self._sequence = 0
        self._logits_at: tuple[int, int] | None = (
            None  # sequence and position of the current logits
        )
        self._width = self._window = self._vocabulary_size = 0
        self.read = 0

    def open(self, model: Any, tokens: int, threads: int, *, sequences: int = SEQUENCES) -> None:
        """Allocate a context of `tokens` for each sequence. Raises ModelError."""
        self._positions = [0] * sequences
        self._vocabulary_size = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
        self._width = llama.llama_model_n_embd(model)
        self._window = llama.llama_model_n_swa(model)
        parameters = llama.llama_context_default_params()
        sequence_tokens = min(tokens, llama.llama_model_n_ctx_train(model))
        parameters.n_ctx = sequences * sequence_tokens
        parameters.n_seq_max = sequences
        parameters.kv_unified = False  # otherwise each sequence computes attention over both
        parameters.n_batch = parameters.n_ubatch = min(BATCH, sequence_tokens)
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.flash_attn_type = int(self.flash_attention)
        parameters.swa_full = True  # otherwise a roll-back past the window gives wrong results
        # A Python callback would take the GIL some 900 times per token. libc's strlen does not:
        # for a buffer that holds "" it returns 0, continue; for "x" it returns 1, abort.
        strlen = ctypes.CDLL(None).strlen
        parameters.abort_callback = ctypes.cast(strlen, llama.ggml_abort_callback)
        parameters.abort_callback_data = ctypes.addressof(self._abort)
        self._context = llama.llama_init_from_model(model, parameters)
        if not self._context:
            raise ModelError(
                f"There is no room for {tokens} tokens of context "
                f"({llama_library.first_complaint()}).",
                "Lower `thinking.context_tokens`.",
            )
        self._memory = llama.llama_get_memory(self._context)
        self.context_tokens = int(llama.llama_n_ctx_seq(self._context))

    def close(self) -> None:
        """Free the context; safe to call twice."""
        if self._context:
            llama.llama_free(self._context)
        self._context = None

    @property
    def context(self) -> Any:
        """llama.cpp's handle of the context, for StateTap (state_tap.py)."""
        return self._context

    def select_sequence(self, sequence: int) -> None:
        """Select the sequence, 0 or 1, that the other methods work on."""
        self._sequence = sequence

    @property
    def position(self) -> int:
        return self._positions[self._sequence]

    @position.setter
    def position(self, position: int) -> None:
        self._positions[self._sequence] = position

    def evaluate(self, *runs: Run, last: bool = False) -> None:
        """Evaluate runs of tokens and of soft tokens in order. With `last`, the next token can be
        sampled afterwards; this costs one token's work in the layers that write no keys and values
        (scripts/patches).

        Raises AnswerAbandoned when interrupted: `position` then says how many tokens are held.
        """
        count = sum(map(len, runs))
        if self.position + count > self.context_tokens:
            raise ModelError(
                f"{self.position + count} tokens do not fit into the model's "
                f"{self.context_tokens}.",
                "Raise `thinking.context_tokens` or lower `thinking.history_tokens`.",
            )
        for batch in packed(runs, mixed=self._mixed):
            count -= sum(map(len, batch))
            self.decode(*batch, wanted=last and count == 0)

    def decode(self, *runs: Run, wanted: bool) -> None:
        """Evaluate one batch of at most BATCH tokens, which must fit. `wanted`: compute logits, so
        that the next token can be sampled. Raises AnswerAbandoned, ModelError; the sequence then
        holds what it held before."""
        count = sum(map(len, runs))
        has_sound = any(isinstance(run, np.ndarray) for run in runs)
        batch = llama.llama_batch_init(count, self._width if has_sound else 0, 1)
        tokens = (llama.llama_token * count)()  # 0 at the positions of soft tokens
        rows = np.zeros((count if has_sound else 0, self._width), np.float32)  # 0 for text tokens
        at = 0
        for run in runs:
            if isinstance(run, np.ndarray):
                rows[at : at + len(run)] = run
            else:
                tokens[at : at + len(run)] = list(run)
            at += len(run)
        try:
            batch.n_tokens = count
            if has_sound:
                ctypes.memmove(batch.embd, rows.ctypes.data, rows.nbytes)
                if not all(isinstance(run, np.ndarray) for run in runs):
                    batch.token = tokens
            else:
                ctypes.memmove(batch.token, tokens, ctypes.sizeof(tokens))
            for at in range(count):
                batch.pos[at] = self.position + at
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = self._sequence
                batch.logits[at] = int(wanted and at == count - 1)
            self._logits_at = None
            outcome = llama.llama_decode(self._context, batch)
        finally:
            if has_sound:
                batch.token = None  # Python owns it; llama.cpp must not free it
            llama.llama_batch_free(batch)
        if outcome:
            self.roll_back(self.position)  # remove a partly evaluated batch
            if outcome == _ABORTED:
                raise AnswerAbandoned
            raise ModelError(
                f"The model failed with code {outcome} ({llama_library.first_complaint()})."
            )
        self.position += count
        self.read += count
        if wanted:
            self._logits_at = self._sequence, self.position

    @property
    def can_draw(self) -> bool:
        """Whether the next token can be sampled without another evaluation."""
        return self._logits_at == (self._sequence, self.position)

    def logits(self) -> npt.NDArray[np.float32]:
        """Return the logits of the next token; valid only if `can_draw`."""
        pointer: Any = llama.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, (self._vocabulary_size,)).copy()

    def roll_back(self, position: int) -> int:
        """Keep the first `position` tokens, or none if that is impossible. Return the new count."""
        if position != self.position:
            self._logits_at = None
        llama.llama_memory_seq_rm(self._memory, self._sequence, position, -1)
        if position and not self.reaches(position):
            llama.llama_memory_seq_rm(self._memory, self._sequence, -1, -1)
            position = 0
        self.position = position
        return position

    def reaches(self, position: int) -> bool:
        """Whether `roll_back` can keep `position` tokens, for a position above 0."""
        oldest = llama.llama_memory_seq_pos_min(self._memory, self._sequence)
        return bool(0 <= oldest <= max(0, position - self._window + 1))

    def state(self) -> bytes:
        """Return the state of the sequence, for `restore`. A restored sequence can be rolled back
        to the state's end but not further: for layers with a window llama.cpp's format holds the
        window alone."""
        size = llama.llama_state_seq_get_size(self._context, self._sequence)
        buffer = (ctypes.c_uint8 * size)()
        written = llama.llama_state_seq_get_data(self._context, buffer, size, self._sequence)
        return bytes(memoryview(buffer)[:written])

    def restore(self, state: bytes, position: int) -> bool:
        """Load `state`, which holds `position` tokens. Return False and hold none if that fails."""
        self.roll_back(0)
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        taken = llama.llama_state_seq_set_data(self._context, buffer, len(state), self._sequence)
        newest = llama.llama_memory_seq_pos_max(self._memory, self._sequence)
        if taken != len(state) or newest != position - 1:
            self.roll_back(0)
            return False
        return self.roll_back(position) == position

    @property
    def fingerprint(self) -> bytes:
        """A digest of what must be equal, besides the model's file, for a state to be restored."""
        made_of = f"{self.context_tokens} {SEQUENCES} {self._width} {self._window} f16 swa_full"
        return hashlib.sha256(llama_library.build() + made_of.encode()).digest()

    def interrupt(self) -> None:
        """Make `evaluate` and `encode` raise AnswerAbandoned until `resume`."""
        self._abort[0] = b"x"

    def resume(self) -> None:
        self._abort[0] = b"\0"

    @property
    def interrupted(self) -> bool:
        return self._abort[0] != b"\0"


def packed(runs: Sequence[Run], *, mixed: bool) -> Iterator[list[Run]]:
    """Split runs into batches of at most BATCH; `mixed`: a batch may hold text and soft tokens.

    Fewer batches are faster: a batch of a few tokens costs nearly as much as one of sixteen,
    because all weights are read for it.
    """
    batch: list[Run] = []
    room = BATCH
    for run in runs:
        separate = not mixed or (not isinstance(run, np.ndarray) and _PADDING in run)
        if batch and separate:
            yield batch
            batch, room = [], BATCH
        while len(run):
            part, run = run[:room], run[room:]
            batch.append(part)
            room -= len(part)
            if not room or separate:
                yield batch
                batch, room = [], BATCH
    if batch:
        yield batch
