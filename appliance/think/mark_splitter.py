"""Splits text so that no piece contains the text of a special token (a mark). Pure.

In: the texts of a vocabulary's special tokens, and any text. Out: pieces whose concatenation is the
text. Each mark in the text is split after its first letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise


class MarkSplitter:
    """Splits text at the given marks. Marks of one letter cannot be split and are ignored."""

    def __init__(self, marks: Iterable[str]) -> None:
        texts = sorted({mark for mark in marks if len(mark) > 1})
        # A look-ahead also finds overlapping marks.
        self._begins = re.compile(f"(?=(?:{'|'.join(map(re.escape, texts))}))") if texts else None

    def pieces(self, text: str) -> list[str]:
        """Split `text` into as few pieces as necessary."""
        if self._begins is None:
            return [text]
        cuts = [0, *(found.start() + 1 for found in self._begins.finditer(text)), len(text)]
        return [text[a:b] for a, b in pairwise(cuts)]
