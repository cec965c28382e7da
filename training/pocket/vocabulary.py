"""The vocabulary: marks, bytes, characters and every word of the table as one token.

In: the texts that the model must read and write. Out: tokens, types and merges for a GGUF of
tokenizer model "gemma4", and an encoder that agrees with llama.cpp's.
"""

import re
from collections import Counter
from itertools import pairwise

SPACE = "\u2581"
MARKS = {
    0: "<pad>",
    1: "<eos>",
    2: "<bos>",
    3: "<unk>",
    46: "<|tool>",
    47: "<tool|>",
    48: "<|tool_call>",
    49: "<tool_call|>",
    50: "<|tool_response>",
    51: "<tool_response|>",
    52: '<|"|>',
    98: "<|think|>",
    100: "<|channel>",
    101: "<channel|>",
    105: "<|turn>",
    106: "<turn|>",
    110: "<|image>",
    111: "<|audio>",
    112: "<|image|>",
    113: "<|audio|>",
    114: "<image|>",
    115: "<audio|>",
    116: "<|video|>",
}
SPOKEN_MARKS = {48, 49, 50, 51, 52, 100, 101}  # type user defined: part of the decoded text
CALL_START = 48
BOS, TURN_START, TURN_END, AUDIO_START, AUDIO_END = 2, 105, 106, 111, 115
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # GGUF token types
WORD = re.compile(r" ?[A-Za-z']+")


def words_of(text: str) -> list[str]:
    """The words of a text, each with its leading space if it has one."""
    return [w.replace(" ", SPACE) for w in WORD.findall(text)]


def learn_merges(texts: list[str]) -> list[tuple[str, str]]:
    """Byte-pair merges, most frequent pair first, until each distinct word is one token."""
    words = {w: list(w) for w in sorted({w for t in texts for w in words_of(t)})}
    merges: list[tuple[str, str]] = []
    while True:
        pairs = Counter(p for parts in words.values() for p in pairwise(parts))
        if not pairs:
            return merges
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(best)
        for parts in words.values():
            join(parts, best)


def join(parts: list[str], pair: tuple[str, str]) -> None:
    i = 0
    while i < len(parts) - 1:
        if (parts[i], parts[i + 1]) == pair:
            parts[i : i + 2] = [pair[0] + pair[1]]
        i += 1


class Vocabulary:
    def __init__(self, texts: list[str], size: int = 4096) -> None:
        self.merges = learn_merges(texts)
        tokens: list[str | None] = [None] * size
        self.types = [UNUSED] * size
        for i, mark in MARKS.items():
            tokens[i] = mark
            self.types[i] = UNKNOWN if i == 3 else USER_DEFINED if i in SPOKEN_MARKS else CONTROL
        free = (i for i in range(size) if tokens[i] is None)
        rest = [(f"<0x{b:02X}>", BYTE) for b in range(256)]
        rest += [
            (t, NORMAL)
            for t in ["\n", "\n\n", "\n\n\n", SPACE] + [chr(c) for c in range(0x21, 0x7F)]
        ]
        rest += [(t, NORMAL) for t in dict.fromkeys(a + b for a, b in self.merges)]
        for (token, kind), i in zip(rest, free, strict=False):
            tokens[i], self.types[i] = token, kind
        self.used = sum(t is not None for t in tokens)
        if len(MARKS) + len(rest) > size:
            raise ValueError(f"{len(MARKS) + len(rest)} tokens do not fit a vocabulary of {size}")
        self.tokens = [f"<unused{i}>" if t is None else t for i, t in enumerate(tokens)]
        self.ids = {t: i for i, t in enumerate(self.tokens)}
        self.rank = {pair: i for i, pair in enumerate(self.merges)}
        self.cut = re.compile("(" + "|".join(re.escape(m) for m in MARKS.values()) + r"|\n+)")

    def encode(self, text: str) -> list[int]:
        """Marks and newlines are single tokens; the rest is merged, unknown characters as bytes."""
        ids: list[int] = []
        for part in filter(None, self.cut.split(text)):
            if part in self.ids and (part[0] in "<\n"):
                ids.append(self.ids[part])
            else:
                ids += self.encode_plain(part.replace(" ", SPACE))
        return ids

    def encode_plain(self, text: str) -> list[int]:
        parts = list(text)
        while True:
            ranked = [self.rank[p] for p in pairwise(parts) if p in self.rank]
            if not ranked:
                break
            join(parts, self.merges[min(ranked)])
        ids: list[int] = []
        for part in parts:
            ids += (
                [self.ids[part]]
                if part in self.ids
                else [self.ids[f"<0x{b:02X}>"] for b in part.encode()]
            )
        return ids

    def decode(self, ids: list[int]) -> str:
        return "".join(self.tokens[i] for i in ids).replace(SPACE, " ")
