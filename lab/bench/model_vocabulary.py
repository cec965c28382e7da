"""A vocabulary of the size and kind of Gemma 4's, in which given texts have a token for each word.

In: texts. Out: tokens, their kinds, and merges for a byte-pair tokeniser. A real vocabulary has the
common words of English as single tokens; so the number of tokens of these texts is like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # llama.cpp's kinds of tokens
BOS, END_OF_TURN, UNK, PAD = 2, 106, 3, 0
# Number → mark. Those of sound are elsewhere in the real vocabulary, behind 255,999.
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
SPACE = "▁"  # what stands for it in SentencePiece vocabularies


@dataclass(frozen=True)
class Vocabulary:
    """Row by row: the token, and its kind. `merges`: pairs, the first to be joined first."""

    tokens: list[str]
    kinds: list[int]
    merges: list[str]


def make(size: int, texts: Iterable[str]) -> Vocabulary:
    """Raises ValueError if the words of the texts do not fit into `size` tokens."""
    pieces: dict[str, int] = {f"<0x{byte:02X}>": BYTE for byte in range(256)}
    pieces |= dict.fromkeys(["\n", "\n\n", SPACE, *map(chr, range(0x21, 0x7F))], NORMAL)
    texts = list(texts)
    words = sorted({word for text in texts for word in re.findall("[A-Za-z]+", text)})
    # Those that lines begin with, the longest first: fewer begin inside of another.
    first = sorted({w for text in texts for w in re.findall("(?m)^[A-Za-z]+", text)}, key=len)[::-1]
    merges: dict[str, None] = {}
    # A merge inside of a word must not come before those of the word itself: first the words behind
    # a space, then those at the beginning of a line.
    for word in [*(SPACE + word for word in words), *first, *words]:
        for length in range(1, len(word)):
            merges[f"{word[:length]} {word[length]}"] = None
            pieces[word[: length + 1]] = NORMAL
    if len(pieces) + len(MARKS) > size:
        raise ValueError(f"{len(pieces)} pieces of words do not fit into {size} tokens.")
    tokens = [f"<unused{number}>" for number in range(size)]
    kinds = [UNUSED] * size
    for number, (mark, kind) in MARKS.items():
        tokens[number], kinds[number] = mark, kind
    free = (number for number in range(size) if number not in MARKS)
    for number, (piece, kind) in zip(free, pieces.items(), strict=False):
        tokens[number], kinds[number] = piece, kind
    return Vocabulary(tokens, kinds, list(merges))
