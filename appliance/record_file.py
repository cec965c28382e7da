"""A record in a small JSON file: read if it is there and whole, as whoever may have written it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from appliance.atomic_file import read_small

MOST_BYTES = 65_536  # of such a file; ours have a few hundred
# What decoding raises for bytes that are no such record: RecursionError for brackets in brackets.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

T = TypeVar("T")


def read_record(file: Path, kind: type[T], most_bytes: int = MOST_BYTES) -> T | None:
    """The record in `file`; None for anything else that lies there, and for nothing.

    Returns at once: a link is not followed, a FIFO not waited for (atomic_file.read_small).
    """
    return load_record(file, kind, most_bytes)[0]


def load_record(file: Path, kind: type[T], most_bytes: int = MOST_BYTES) -> tuple[T | None, str]:
    """Likewise, and what is wrong with what lies there; "" for a record, and for nothing."""
    try:
        return msgspec.json.decode(read_small(file, most_bytes), type=kind), ""
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{file} cannot be read ({error.strerror})"
    except UNREADABLE:
        return None, f"{file} is damaged"
