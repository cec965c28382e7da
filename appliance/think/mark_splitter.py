"""Cuts words so that no piece of them holds a whole mark. Pure.

In: the texts of a vocabulary's special tokens, and anybody's words. Out: pieces, which together are
the words to the letter. Each place where a mark begins is cut behind the mark's first letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise


class MarkSplitter:
    """Marks of one letter cannot be cut, and are not looked for."""

    def __init__(self, marks: Iterable[str]) -> None:
        texts = sorted({mark for mark in marks if len(mark) > 1})
        # A look-ahead finds marks that overlap, too.
        self._begins = re.compile(f"(?=(?:{'|'.join(map(re.escape, texts))}))") if texts else None

    def pieces(self, text: str) -> list[str]:
        """`text` in as few pieces as it takes."""
        if self._begins is None:
            return [text]
        cuts = [0, *(found.start() + 1 for found in self._begins.finditer(text)), len(text)]
        return [text[a:b] for a, b in pairwise(cuts)]
