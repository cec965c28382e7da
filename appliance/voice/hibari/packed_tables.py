"""hibari's tables of words, left as the text of their files: a Python object for each entry would
take ten times the memory.

In: the files of its package. Out: what answers `get` as the dictionaries do that hibari makes of
them, value for value (tests/voice/hibari/test_packed_tables.py compares all of them).
"""

from __future__ import annotations

import gzip
import json
import re
from array import array
from bisect import bisect_left
from pathlib import Path
from typing import Any

import numpy as np

from appliance.errors import ModelError

_LETTERS = rb'[^"\\]*(?:\\.[^"\\]*)*'
_VALUE = rb'"%b"|\{[^{}"]*(?:"%b"[^{}"]*)*\}' % (_LETTERS, _LETTERS)
_MEMBER = re.compile(rb'"(%b)"\s*:\s*(?:%b)' % (_LETTERS, _VALUE))
_MOST_BETWEEN = 4  # bytes between two members: a comma, and white space
_WEIGHTS = re.compile(rb',\s*"weights"\s*:\s*(?=\{)')  # no other value of that name is an object


class JsonTable:
    """An object of JSON whose members are strings or flat objects, found by the hash of the key and
    parsed when they are asked for."""

    def __init__(self, text: bytes) -> None:
        """Raises ValueError where it is another kind of object."""
        found = [(each[1], each.start(), each.end()) for each in _MEMBER.finditer(text)]
        keys, begins, ends = zip(*found, strict=True) if found else ((), (), ())
        between = sum(begins) - sum(ends) + len(text)  # the braces, and a comma behind each but one
        if text[:1] + text[-1:] != b"{}" or between > 2 + _MOST_BETWEEN * len(found):
            raise ValueError("it is no object")
        hashes = np.fromiter((hash(_key(key)) for key in keys), np.int64, len(keys))
        order = np.argsort(hashes)
        self._text = text
        self._hashes = array("q", hashes[order].tobytes())
        self._begins = array("I", np.array(begins, np.uint32)[order].tobytes())
        self._ends = array("I", np.array(ends, np.uint32)[order].tobytes())

    def __len__(self) -> int:
        return len(self._hashes)

    def get(self, key: str) -> Any:
        """What stands for `key`, or None."""
        wanted = hash(key.encode("utf-8", "surrogatepass"))
        row = bisect_left(self._hashes, wanted)
        while row < len(self._hashes) and self._hashes[row] == wanted:
            member = json.loads(b"{%b}" % self._text[self._begins[row] : self._ends[row]])
            if key in member:
                return member[key]
            row += 1
        return None


def load_pronunciations(file: Path) -> JsonTable:
    """A lexicon: words, and how each is said. Raises ModelError."""
    return _table(_text_of(file), file)


def load_tagger(file: Path) -> dict[str, Any]:
    """What hibari's tagger is made of: small tables as they are, and its weights. Raises
    ModelError."""
    text = _text_of(file).rstrip()
    found = _WEIGHTS.search(text)
    if found is None:
        raise _damaged(file, "it has no weights")
    model: dict[str, Any] = json.loads(text[: found.start()] + b"}")
    return {**model, "weights": _table(text[found.end() : -1].rstrip(), file)}


def _table(text: bytes, file: Path) -> JsonTable:
    try:
        return JsonTable(text.strip())
    except ValueError as error:
        raise _damaged(file, str(error)) from error


def _text_of(file: Path) -> bytes:
    try:
        return gzip.decompress(file.read_bytes())
    except (OSError, EOFError, ValueError) as error:
        raise _damaged(file, str(error)) from error


def _damaged(file: Path, why: str) -> ModelError:
    return ModelError(f"{file}: cannot be used ({why}).", "Install the package again.")


def _key(written: bytes) -> bytes:
    """A key as its letters are, without the signs that stand for others."""
    return json.loads(b'"%b"' % written).encode() if b"\\" in written else written
