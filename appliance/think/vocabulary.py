"""The model's vocabulary through llama.cpp: text to tokens and back. Plain text never gives marks.

In: a loaded model. Out: tokens, their text, which of them are special. Without `marks` llama.cpp
ignores control tokens but still matches user-defined ones (llama-vocab.cpp,
`tokenizer_st_partition`), and Gemma 4's `<|tool_call>`, `<|channel>` and `<|"|>` are such tokens.
So plain text is split within every such mark before llama.cpp tokenises it.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from appliance.errors import ModelError
from appliance.think.llama_library import clear_log, llama
from appliance.think.mark_splitter import MarkSplitter

_SPECIAL = (
    llama.LLAMA_TOKEN_ATTR_CONTROL
    | llama.LLAMA_TOKEN_ATTR_UNKNOWN
    | llama.LLAMA_TOKEN_ATTR_USER_DEFINED
)


class Vocabulary:
    """A vocabulary of `size` tokens. `special`: text by token, of those that plain text must never
    give.

    Tokens of one letter or of white space alone are left out: Gemma's runs of spaces and line
    breaks are user-defined tokens without a special meaning.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._vocabulary = llama.llama_model_get_vocab(model)
        self.size = int(llama.llama_vocab_n_tokens(self._vocabulary))
        self.special: dict[int, str] = {}
        for token in range(self.size):
            if llama.llama_vocab_get_attr(self._vocabulary, token) & _SPECIAL:
                text = (llama.llama_vocab_get_text(self._vocabulary, token) or b"").decode()
                if len(text) > 1 and text.strip(" \t\r\n\u2581"):
                    self.special[token] = text
        self._mark_splitter = MarkSplitter(self.special.values())

    @property
    def template(self) -> str | None:
        """The chat template in the model's file."""
        found = llama.llama_model_chat_template(self._model, None)
        return None if found is None else found.decode(errors="replace")

    def tokenize(self, text: str, *, marks: bool) -> list[int]:
        """Return the tokens of `text`. With `marks`, special tokens spelled out are recognised.

        Without `marks`, no token is special, even if the text contains a special token's text.
        """
        if marks:
            return self._tokenize(text, marks=True)
        tokens = []
        for piece in self._mark_splitter.pieces(text):
            found = self._tokenize(piece, marks=False)
            if not self.special.keys().isdisjoint(found):  # the vocabulary's merges formed one
                found = [token for letter in piece for token in self._tokenize(letter, marks=False)]
            tokens += found
        return tokens

    def _tokenize(self, text: str, *, marks: bool) -> list[int]:
        data = text.encode(errors="replace")
        tokens = (llama.llama_token * (len(data) + 8))()
        count = llama.llama_tokenize(
            self._vocabulary, data, len(data), tokens, len(tokens), False, marks
        )
        return list(tokens[:count])

    def piece(self, token: int) -> bytes:
        """Return the token's UTF-8 bytes, which may be a part of a character; b"" for a control
        token. For a user-defined token it is the token's text.
        """
        buffer = ctypes.create_string_buffer(256)
        count = llama.llama_token_to_piece(self._vocabulary, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(0, count)]

    def is_end(self, token: int) -> bool:
        """Whether the model ends its answer with this token."""
        return bool(llama.llama_vocab_is_eog(self._vocabulary, token))


def template_of(text: Path) -> str | None:
    """Return the chat template in a model's file without reading its weights. Raises ModelError."""
    clear_log()
    parameters = llama.llama_model_default_params()
    parameters.vocab_only = True
    parameters.n_gpu_layers = 0
    model = llama.llama_model_load_from_file(os.fsencode(text), parameters)
    if not model:
        raise ModelError(f"{text} is not a model that can be used.")
    try:
        found = llama.llama_model_chat_template(model, None)
        return None if found is None else found.decode(errors="replace")
    finally:
        llama.llama_model_free(model)
