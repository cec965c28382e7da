"""llama.cpp's context: two sequences of tokens in its memory, of which one is in use.

In: runs of tokens and of soft tokens, a position to go back to, the bytes of a state. Out: the next
token. Each sequence has its own part of the memory (18 KiB a token: `swa_full`, 16 bits).
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

# Tokens a call, and computed at once. More are hardly faster a token, take more memory, and keep
# the pulse still for longer: 9 s for these on a Pi, at the 15 a second that are estimated.
BATCH = 128
# llama.cpp computes so many tokens together and the rest one by one: 15 take longer than 16
# (docs/benchmarks/model.md).
TOGETHER = 4
SEQUENCES = 2
_PADDING = 0  # the token beside a soft one; as a token it would be taken for one
_ABORTED = 2  # llama_decode: the abort callback said so


class LlamaContext:
    """`position` counts the tokens that the sequence in use holds; `read`, all that were ever read.

    All methods belong to one thread, but for `interrupt` and `resume`.
    """

    # A tenth to a third slower for the batches of a question (docs/benchmarks/model.md), and only
    # keys and values of fewer than 16 bits would need it.
    flash_attention = False

    def __init__(self) -> None:
        self._context: Any = None
        self._abort = ctypes.create_string_buffer(2)
        self._positions = [0] * SEQUENCES
        self._sequence = 0
        self._weighed: tuple[int, int] | None = None  # what the weights are of: sequence, position
        self._width = self._window = self._vocabulary_size = 0
        self.read = 0

    def open(self, model: Any, tokens: int, threads: int, *, sequences: int = SEQUENCES) -> None:
        """Make room for `tokens` in each sequence. Raises ModelError."""
        self._positions = [0] * sequences
        self._vocabulary_size = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
        self._width = llama.llama_model_n_embd(model)
        self._window = llama.llama_model_n_swa(model)
        parameters = llama.llama_context_default_params()
        a_sequence = min(tokens, llama.llama_model_n_ctx_train(model))
        parameters.n_ctx = sequences * a_sequence
        parameters.n_seq_max = sequences
        parameters.kv_unified = False  # else each sequence computes attention over both
        parameters.n_batch = parameters.n_ubatch = min(BATCH, a_sequence)
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.flash_attn_type = int(self.flash_attention)
        parameters.swa_full = True  # else going back past the window is silently wrong
        # A Python callback would take the GIL some 900 times a token. libc's strlen takes none:
        # of a buffer that holds "" it is 0, go on; of one that holds "x" it is 1, stop.
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
        """Give it back; safe to call twice."""
        if self._context:
            llama.llama_free(self._context)
        self._context = None

    @property
    def context(self) -> Any:
        """llama.cpp's handle of it, for what reads out of it (state_tap.py)."""
        return self._context

    def select_sequence(self, sequence: int) -> None:
        """From now on this one is meant: 0 or 1."""
        self._sequence = sequence

    @property
    def position(self) -> int:
        return self._positions[self._sequence]

    @position.setter
    def position(self, position: int) -> None:
        self._positions[self._sequence] = position

    def evaluate(self, *runs: Run, last: bool = False) -> None:
        """Read runs of tokens and of soft tokens, one behind the other. After the `last` ones the
        next token can be drawn. That costs what one token costs in the layers that write no keys
        and values (scripts/patches).

        Raises AnswerAbandoned when interrupted: `position` then says how much is held.
        """
        count = sum(map(len, runs))
        if self.position + count > self.context_tokens:
            raise ModelError(
                f"{self.position + count} tokens do not fit into the model's "
                f"{self.context_tokens}.",
                "Raise `thinking.context_tokens` or lower `thinking.history_tokens`.",
            )
        for batch in packed(runs, mixed=llama_library.takes_tokens_and_embeddings()):
            count -= sum(map(len, batch))
            self.decode(*batch, wanted=last and count == 0)

    def decode(self, *runs: Run, wanted: bool) -> None:
        """One batch: at most BATCH tokens and soft tokens that fit. `wanted`: after them the next
        token can be drawn. Raises AnswerAbandoned, ModelError; then it holds what it held."""
        count = sum(map(len, runs))
        has_sound = any(isinstance(run, np.ndarray) for run in runs)
        batch = llama.llama_batch_init(count, self._width if has_sound else 0, 1)
        tokens = (llama.llama_token * count)()  # 0 beside soft ones
        rows = np.zeros((count if has_sound else 0, self._width), np.float32)  # 0 beside tokens
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
            self._weighed = None
            outcome = llama.llama_decode(self._context, batch)
        finally:
            if has_sound:
                batch.token = None  # ours, and not to be freed
            llama.llama_batch_free(batch)
        if outcome:
            self.roll_back(self.position)  # what was half done
            if outcome == _ABORTED:
                raise AnswerAbandoned
            raise ModelError(
                f"The model failed with code {outcome} ({llama_library.first_complaint()})."
            )
        self.position += count
        self.read += count
        if wanted:
            self._weighed = self._sequence, self.position

    @property
    def can_draw(self) -> bool:
        """The next token can be drawn from what is held, with nothing read before."""
        return self._weighed == (self._sequence, self.position)

    def logits(self) -> npt.NDArray[np.float32]:
        """The weight of every token to be the next, if it `can_draw`."""
        pointer: Any = llama.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, (self._vocabulary_size,)).copy()

    def roll_back(self, position: int) -> int:
        """Hold only the first `position` tokens, or none if that cannot be; says how many."""
        if position != self.position:
            self._weighed = None
        llama.llama_memory_seq_rm(self._memory, self._sequence, position, -1)
        if position and not self.reaches(position):
            llama.llama_memory_seq_rm(self._memory, self._sequence, -1, -1)
            position = 0
        self.position = position
        return position

    def reaches(self, position: int) -> bool:
        """Whether `roll_back` can go there, for anything but none."""
        oldest = llama.llama_memory_seq_pos_min(self._memory, self._sequence)
        return bool(0 <= oldest <= max(0, position - self._window + 1))

    def state(self) -> bytes:
        """All that is held, for `restore`. From there one cannot go back further than to its end:
        of layers with a window it has the window alone (facts of llama.cpp's format)."""
        size = llama.llama_state_seq_get_size(self._context, self._sequence)
        buffer = (ctypes.c_uint8 * size)()
        written = llama.llama_state_seq_get_data(self._context, buffer, size, self._sequence)
        return bytes(memoryview(buffer)[:written])

    def restore(self, state: bytes, position: int) -> bool:
        """Hold what `state` holds, `position` tokens. Returns whether it does; else nothing."""
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
        """What must be the same for a state to be taken back, besides the model's file."""
        made_of = f"{self.context_tokens} {SEQUENCES} {self._width} {self._window} f16 swa_full"
        return hashlib.sha256(llama_library.build() + made_of.encode()).digest()

    def interrupt(self) -> None:
        """Make `evaluate` and `encode` raise AnswerAbandoned, now and until `resume`."""
        self._abort[0] = b"x"

    def resume(self) -> None:
        self._abort[0] = b"\0"

    @property
    def interrupted(self) -> bool:
        return self._abort[0] != b"\0"


def packed(runs: Sequence[Run], *, mixed: bool) -> Iterator[list[Run]]:
    """Batches of at most BATCH, as few as can be where tokens and soft tokens may be `mixed`.

    A batch of a few costs nearly what one of sixteen costs: all weights are read for it.
    """
    batch: list[Run] = []
    room = BATCH
    for run in runs:
        alone = not mixed or (not isinstance(run, np.ndarray) and _PADDING in run)
        if batch and alone:
            yield batch
            batch, room = [], BATCH
        while len(run):
            part, run = run[:room], run[room:]
            batch.append(part)
            room -= len(part)
            if not room or alone:
                yield batch
                batch, room = [], BATCH
    if batch:
        yield batch
