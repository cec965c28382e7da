"""Loads the networks from the GGUF files that export.py wrote, to continue training.

In: the folder of the two files, networks of the same shape, the vocabulary of the current table.
Out: the weights in the networks. A word that is new in the table is initialised to the mean of its
letters.
"""

from pathlib import Path

import gguf
import numpy as np
import torch

from training.pocket.audio_encoder import AudioEncoder
from training.pocket.export import Named, audio_tensors, text_tensors
from training.pocket.text_decoder import TextDecoder
from training.pocket.vocabulary import Vocabulary

BY_WORD = {"token_embd.weight", "per_layer_token_embd.weight"}  # one row for each token


def restore(
    folder: Path, encoder: AudioEncoder, decoder: TextDecoder, vocabulary: Vocabulary
) -> None:
    """Copy the weights. Raises FileNotFoundError, and ValueError for tensors of another shape."""
    text = gguf.GGUFReader(folder / "pocket-text.gguf")
    tokens = text.fields["tokenizer.ggml.tokens"].contents()
    places = {token: i for i, token in enumerate(tokens)}
    fill(text, text_tensors(decoder), places, vocabulary)
    fill(gguf.GGUFReader(folder / "pocket-audio.gguf"), audio_tensors(encoder), places, vocabulary)


def fill(
    file: gguf.GGUFReader, tensors: Named, places: dict[str, int], vocabulary: Vocabulary
) -> None:
    stored = {t.name: torch.from_numpy(np.array(t.data, np.float32)) for t in file.tensors}
    for name, weights, _ in tensors:
        found = stored[name]
        if name in BY_WORD:
            found = rows_for(vocabulary, found, places)
        if found.shape != weights.shape:
            raise ValueError(f"{name} is {tuple(found.shape)}, not {tuple(weights.shape)}")
        weights.copy_(found)


def rows_for(vocabulary: Vocabulary, stored: torch.Tensor, places: dict[str, int]) -> torch.Tensor:
    """[tokens of the vocabulary, width] from the rows of another vocabulary.

    `places` is the row of each token there. Each letter is a token of both vocabularies.
    """
    rows = [
        stored[places[token]]
        if token in places
        else stored[[places[letter] for letter in token]].mean(0)
        for token in vocabulary.tokens
    ]
    return torch.stack(rows)
