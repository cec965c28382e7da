"""Reads py3langid's model as a stream, without a copy on disk, and only the languages in use.

In: the file of its wheel, a numpy archive (npz with uncompressed members) inside LZMA. py3langid's
own loader unpacks the 65 MB into a file in /tmp first.
"""

from __future__ import annotations

import lzma
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from appliance.language.codes import base

_HEADER = 30  # bytes of a member's header, before name and extra field (ZIP's APPNOTE.TXT, 4.3.7)
_MEMBER = b"PK\x03\x04"
_STREAMED, _STORED = 0x08, 0


class LangidModel(NamedTuple):
    """The arguments of py3langid's LanguageIdentifier, with the names that they have in its file.

    classes   the languages, one per column of `ptc`, which has one row per feature
    nextmove  the automaton: 256 entries per row. `nextmove_row`: the row of each state
    out_feat  the feature that a state has found, or less than 0
    """

    ptc: Any
    pc: Any
    classes: list[str]
    nextmove: Any
    nextmove_row: Any
    out_feat: Any


def read_model(file: Path, languages: Collection[str]) -> LangidModel:
    """Read the model for `languages`, ISO 639-1. Raises OSError, EOFError, and ValueError for a
    file with another layout."""
    arrays: dict[str, Any] = {}
    with lzma.open(file) as stream:
        while (header := stream.read(_HEADER))[:4] == _MEMBER:
            flags, method = (int.from_bytes(header[at : at + 2], "little") for at in (6, 8))
            if flags & _STREAMED or method != _STORED:
                raise ValueError("a member of it is compressed")
            name_bytes, extra_bytes = (
                int.from_bytes(header[at : at + 2], "little") for at in (26, 28)
            )
            key = stream.read(name_bytes).decode()
            stream.read(extra_bytes)
            array = np.lib.format.read_array(cast("BinaryIO", stream), allow_pickle=False)
            arrays[key.removesuffix(".npy")] = array
    if arrays.keys() != set(LangidModel._fields):
        raise ValueError("it has other arrays than its reader knows")
    codes = [str(code) for code in arrays["classes"]]
    columns = [column for column, code in enumerate(codes) if base(code) in languages]
    return LangidModel(
        np.ascontiguousarray(arrays["ptc"][:, columns]),
        arrays["pc"][columns],
        [codes[column] for column in columns],
        memoryview(arrays["nextmove"]),
        memoryview(arrays["nextmove_row"]),
        memoryview(arrays["out_feat"]),
    )
