"""hibari's word tables, held as the JSON text of their files: a Python object for each entry would
take ten times the memory.

In: the files of its package. Out: tables whose `get` returns the same values as the dictionaries
that hibari makes of these files (tests/voice/hibari/test_packed_tables.py compares all of them).
"""

from __future__ import annotations

import gzip
import json
import operator
import re
from array import array
from bisect import bisect_left
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError

Places = npt.NDArray[np.int64]  # of bytes in a text

# A key's hash: the sum of its bytes, each times this number to the power of its index + 1. The
# number is 2**64 divided by the golden ratio, as in Knuth's multiplicative hashing.
_FACTOR = 0x9E3779B97F4A7C15
_BITS = 2**64 - 1
_parse = json.JSONDecoder().raw_decode  # less overhead than json.loads, at 200 lookups a sentence
_WEIGHTS = re.compile(rb',\s*"weights"\s*:\s*(?=\{)')  # no other "weights" is an object


class JsonTable:
    """A JSON object whose members are strings or flat objects, found by the key's hash and parsed
    at each lookup. numpy builds the index of a complete table at once: with a loop over the
    members the voice's start would take three times as long."""

    def __init__(self, text: bytes) -> None:
        """`text`: in the format that Python's json writes. Raises ValueError for another kind of
        object."""
        begins, key_ends, ends = _members(text)
        lengths = key_ends - begins
        powers = np.multiply.accumulate(np.full(lengths.max(initial=1), _FACTOR, np.uint64))
        self._powers: list[int] = powers.tolist()
        hashes = _hashes(text, begins, lengths, powers)
        slashes = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\\"))
        escaped = np.searchsorted(slashes, begins) < np.searchsorted(slashes, key_ends)
        for row in np.flatnonzero(escaped):
            key: str = json.loads(text[begins[row] - 1 : key_ends[row] + 1])
            hashes[row] = self._hash(key.encode())
        order = np.argsort(hashes)
        self._text = text
        self._hashes = array("Q", hashes[order].tobytes())
        self._begins = array("I", (begins - 1)[order].astype(np.uint32).tobytes())
        self._ends = array("I", ends[order].astype(np.uint32).tobytes())

    def __len__(self) -> int:
        return len(self._hashes)

    def get(self, key: str) -> Any:
        """The value of `key`, or None."""
        wanted = self._hash(key.encode("utf-8", "surrogatepass"))
        row = bisect_left(self._hashes, wanted)
        while row < len(self._hashes) and self._hashes[row] == wanted:
            written = self._text[self._begins[row] : self._ends[row]]
            member, _ = _parse(f"{{{written.decode()}}}")
            if key in member:
                return member[key]
            row += 1
        return None

    def _hash(self, key: bytes) -> int:
        """The hash of `key`; of a key longer than any in the table, the hash of its beginning."""
        found: int = sum(map(operator.mul, key, self._powers))
        return found & _BITS


def _hashes(
    text: bytes, begins: Places, lengths: Places, powers: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """The hash of each key in the text, with its escapes as written."""
    if not len(begins):
        return np.zeros(0, np.uint64)
    taken = lengths + 1  # with the closing quote, set to 0, so that reduceat gets no empty key
    starts = np.cumsum(taken) - taken
    within = np.arange(taken.sum()) - np.repeat(starts, taken)
    letters = np.frombuffer(text, np.uint8)[np.repeat(begins, taken) + within]
    letters[starts + lengths] = 0
    return np.add.reduceat(letters * powers[np.minimum(within, len(powers) - 1)], starts)


def _members(text: bytes) -> tuple[Places, Places, Places]:
    """For each member: start and end of its key, without the quotes, and the end of its value.

    Raises ValueError if a value is neither a string nor an object without nested ones.
    """
    letters = np.frombuffer(text, np.uint8)
    quotes = _quotes(letters)
    braces = np.flatnonzero((letters == ord("{")) | (letters == ord("}")))
    braces = braces[np.searchsorted(quotes, braces) % 2 == 0]  # the others are in strings
    depths = np.cumsum(np.where(letters[braces] == ord("{"), 1, -1))
    flat = [1, *[2, 1] * (len(braces) // 2 - 1), 0]
    if len(quotes) % 2 or text[:1] + text[-1:] != b"{}" or depths.tolist() != flat:
        raise ValueError("it is no object")
    firsts, lasts = quotes[::2], quotes[1::2]
    keys = (np.searchsorted(braces, firsts) % 2 == 1) & (letters[lasts + 1] == ord(":"))
    begins, key_ends = firsts[keys], lasts[keys] + 1
    # A value begins with the first quote or brace after its key, and ends with the last one before
    # the next key, or before the end of the table.
    marks = np.sort(np.concatenate([quotes, braces]), kind="stable")  # which merges sorted runs
    first = np.searchsorted(marks, key_ends)
    last = np.append(np.searchsorted(marks, begins), len(marks) - 1)[1:] - 1
    values, ends = marks[first], marks[last] + 1
    objects = letters[values] == ord("{")
    if not (
        np.all(objects | (last == first + 1))
        and np.count_nonzero(objects) == len(braces) // 2 - 1
        and _only_between(letters, key_ends, values, ":")
        and _only_between(letters, ends[:-1], begins[1:], ",")
        and [*begins[:1], *ends[-1:]] == [1, len(text) - 1][: 2 * len(begins)]
        and (len(begins) or len(text) == 2)
    ):
        raise ValueError("it is no object")
    return begins + 1, key_ends - 1, ends


def _quotes(letters: npt.NDArray[np.uint8]) -> Places:
    """The quotes at which strings begin and end."""
    quotes = np.flatnonzero(letters == ord('"'))
    slashes = np.flatnonzero(letters == ord("\\"))
    if not len(slashes):
        return quotes
    # In a run of backslashes every second one is escaped by the one before.
    new = np.diff(slashes, prepend=-2) > 1
    escaping = (slashes - slashes[new][np.cumsum(new) - 1]) % 2 == 0
    return np.setdiff1d(quotes, slashes[escaping] + 1, assume_unique=True)


def _only_between(letters: npt.NDArray[np.uint8], ends: Places, begins: Places, sign: str) -> bool:
    """Whether only `sign`, and at most one space after it, is between each end and each begin."""
    gaps = begins - ends
    spaced = (gaps == 2) & (letters[begins - 1] == ord(" "))
    return bool(np.all((letters[ends] == ord(sign)) & ((gaps == 1) | spaced)))


def load_pronunciations(file: Path) -> JsonTable:
    """A lexicon: each word with its pronunciation. Raises ModelError."""
    return _table(_text_of(file), file)


def load_tagger(file: Path) -> dict[str, Any]:
    """The tables of hibari's tagger: small ones as dictionaries, the weights as a JsonTable. Raises
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
