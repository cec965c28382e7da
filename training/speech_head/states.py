"""The pocket model's hidden states for texts that it generates or that are forced on it.

In: the model's file. Out: for each token its piece of text and [7, width]: the embedding's row and
the last six layers, read by the appliance's own `StateTap`. A given text is evaluated in one batch;
the states are those of sampling these tokens, except for the rounding of kernels for several rows.
"""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import llama_cpp as llama
import numpy as np
from numpy.typing import NDArray

from appliance.think.state_tap import StateTap
from training.pocket.conversation import PERSONA
from training.pocket.through_llama import silent

TURN_END, LONGEST = 106, 220
PREAMBLE = f"<|turn>system\n{PERSONA}<turn|>\n"
States = NDArray[np.float32]


class Model:
    def __init__(self, file: Path, threads: int = 1, context: int = 2048) -> None:
        llama.llama_log_set(silent, ctypes.c_void_p(0))
        self.model = llama.llama_model_load_from_file(
            str(file).encode(), llama.llama_model_default_params()
        )
        if not self.model:
            raise FileNotFoundError(file)
        c = llama.llama_context_default_params()
        c.n_ctx, c.n_batch, c.n_ubatch, c.swa_full = context, 512, 512, True
        c.n_threads, c.n_threads_batch = threads, threads
        self.context = llama.llama_init_from_model(self.model, c)
        self.vocabulary = llama.llama_model_get_vocab(self.model)
        self.memory = llama.llama_get_memory(self.context)
        self.tap = StateTap(self.context, self.model)
        self.tap.switch_on()
        self.past = 0

    def tokens(self, text: str, special: bool = True) -> list[int]:
        raw = text.encode()
        out = (llama.llama_token * (len(raw) + 8))()
        n = llama.llama_tokenize(self.vocabulary, raw, len(raw), out, len(raw) + 8, False, special)
        return list(out[:n])

    def piece(self, token: int) -> str:
        b = ctypes.create_string_buffer(64)
        n = llama.llama_token_to_piece(self.vocabulary, token, b, 64, 0, False)
        return b.raw[:n].decode(errors="replace")

    def ask(self, request: str, persona: bool) -> None:
        """Start a new conversation with `request`, up to the start of the answer."""
        llama.llama_memory_seq_rm(self.memory, 0, 0, -1)
        self.past = 0
        text = f"{PREAMBLE if persona else ''}<|turn>user\n{request}<turn|>\n<|turn>model\n"
        self.decode([llama.llama_vocab_bos(self.vocabulary), *self.tokens(text)])

    def recite(self, text: str) -> tuple[list[str], States]:
        """Evaluate a given text as the answer; returns its pieces and [tokens, 7, width]."""
        tokens = self.tokens(text, special=False)
        self.decode(tokens)
        return [self.piece(t) for t in tokens], self.tap.read(len(tokens))

    def answer(self) -> Iterator[tuple[str, States]]:
        """The model's own answer by greedy sampling: for each token its piece and [7, width]."""
        for _ in range(LONGEST):
            row = llama.llama_get_logits_ith(self.context, -1)
            size = llama.llama_vocab_n_tokens(self.vocabulary)
            token = int(np.argmax(np.ctypeslib.as_array(row, (size,))))
            if token == TURN_END:
                return
            self.decode([token])
            yield self.piece(token), self.tap.read()[0]

    def decode(self, tokens: list[int]) -> None:
        b = llama.llama_batch_init(len(tokens), 0, 1)
        b.n_tokens = len(tokens)
        for i, t in enumerate(tokens):
            b.token[i], b.pos[i], b.n_seq_id[i], b.seq_id[i][0] = t, self.past + i, 1, 0
            b.logits[i] = True
        failed = llama.llama_decode(self.context, b)
        llama.llama_batch_free(b)
        if failed:
            raise RuntimeError(f"llama_decode: {failed}")
        self.past += len(tokens)
