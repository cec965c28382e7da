"""Reads a record from a small JSON file that another user may have written."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from appliance.atomic_file import read_small

MOST_BYTES = 65_536  # of such a file; the box's own have a few hundred
# What decoding raises for other bytes: RecursionError for deeply nested brackets.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

T = TypeVar("T")


def read_record(file: Path, kind: type[T], most_bytes: int = MOST_BYTES) -> T | None:
    """The record in `file`; None if there is none, or the file holds anything else.

    Never blocks: does not follow a symlink or wait for a FIFO (atomic_file.read_small).
    """
    return load_record(file, kind, most_bytes)[0]


def load_record(file: Path, kind: type[T], most_bytes: int = MOST_BYTES) -> tuple[T | None, str]:
    """As `read_record`, with the problem of an unusable file; "" for a record and for no file."""
    try:
        return msgspec.json.decode(read_small(file, most_bytes), type=kind), ""
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{file} cannot be read ({error.strerror})"
    except UNREADABLE:
        return None, f"{file} is damaged"
