"""Makes a vocabulary of Gemma 4's size and kind with one token for each word of given texts.

In: texts. Out: tokens, their kinds, and merges for a byte-pair tokeniser. A real vocabulary has
common English words as single tokens, so these texts have about as many tokens as with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # llama.cpp's token types
BOS, END_OF_TURN, UNK, PAD = 2, 106, 3, 0
# Token id → control token. The real vocabulary has those of sound after 255,999.
MARKS = {
    PAD: ("<pad>", CONTROL), 1: ("<eos>", CONTROL), BOS: ("<bos>", CONTROL),
    UNK: ("<unk>", UNKNOWN),
    46: ("<|tool>", CONTROL), 47: ("<tool|>", CONTROL),
    48: ("<|tool_call>", USER), 49: ("<tool_call|>", USER),
    50: ("<|tool_response>", USER), 51: ("<tool_response|>", USER), 52: ('<|"|>', USER),
    98: ("<|think|>", CONTROL), 100: ("<|channel>", USER), 101: ("<channel|>", USER),
    105: ("<|turn>", CONTROL), END_OF_TURN: ("<turn|>", CONTROL),
    111: ("<|audio>", CONTROL), 115: ("<audio|>", CONTROL),
}  # fmt: skip
SPACE = "▁"  # the space in SentencePiece vocabularies


@dataclass(frozen=True)
class Vocabulary:
    """Tokens and their kinds by id. `merges`: pairs of pieces, in the order of their priority."""

    tokens: list[str]
    kinds: list[int]
    merges: list[str]


def make(size: int, texts: Iterable[str]) -> Vocabulary:
    """Make a vocabulary of `size` tokens. Raises ValueError if the texts' words do not fit."""
    pieces: dict[str, int] = {f"<0x{byte:02X}>": BYTE for byte in range(256)}
    pieces |= dict.fromkeys(["\n", "\n\n", SPACE, *map(chr, range(0x21, 0x7F))], NORMAL)
    texts = list(texts)
    words = sorted({word for text in texts for word in re.findall("[A-Za-z]+", text)})
    # Words at the start of a line, the longest first, as short ones are often parts of longer ones.
    line_starts = sorted(
        {w for text in texts for w in re.findall("(?m)^[A-Za-z]+", text)}, key=len
    )[::-1]
    merges: dict[str, None] = {}
    # Merges of a word must precede merges of pieces inside it: first the words after a space, then
    # those at the start of a line.
    for word in [*(SPACE + word for word in words), *line_starts, *words]:
        for length in range(1, len(word)):
            merges[f"{word[:length]} {word[length]}"] = None
            pieces[word[: length + 1]] = NORMAL
    if len(pieces) + len(MARKS) > size:
        raise ValueError(f"{len(pieces)} pieces of words do not fit into {size} tokens.")
    tokens = [f"<unused{number}>" for number in range(size)]
    kinds = [UNUSED] * size
    for number, (mark, kind) in MARKS.items():
        tokens[number], kinds[number] = mark, kind
    free_ids = (number for number in range(size) if number not in MARKS)
    for number, (piece, kind) in zip(free_ids, pieces.items(), strict=False):
        tokens[number], kinds[number] = piece, kind
    return Vocabulary(tokens, kinds, list(merges))
