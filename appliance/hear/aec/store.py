"""Saves the echo path's estimate in a file, so that a restart need not learn it again.

In: the taps of the canceller's filter. Out: a file in the state's folder, numbers only, mode 0600,
which is read back if it belongs to this sound card and is undamaged. An unusable file costs two
seconds of learning, so no error here stops the box; the caller logs it once.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from appliance.audio.cards import chosen, list_cards
from appliance.background_file import write_private
from appliance.errors import StorageError
from appliance.hear.aec.path_estimate import Floats
from appliance.numpy_archive import read_arrays
from appliance.settings import Settings

FILE = "listener/echo.npz"  # in the state folder
_MOST_BYTES = 262_144  # half a second at 48 kHz takes 96 kB
LOUDEST = 100.0  # sum of the taps' magnitudes; more is no plausible response


def key(settings: Settings) -> str:
    """Identifies what a response is valid for: sound cards and rate, which determine its delay, and
    tail, its length. `auto` is resolved to the card that is present now."""
    card = settings.card
    capture, playback = chosen(card.capture, card.playback, list_cards())
    return f"{capture}|{playback}|{card.rate_hz}|{settings.hearing.echo.tail_ms}"


def load(folder: Path, expected_key: str, length: int) -> Floats | None:
    """Read the taps, float32[length]; None if none are saved for this card. Raises StorageError for
    a file that is damaged or cannot be read."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        taps, saved_key = read_arrays(path, ("taps", "key"), _MOST_BYTES)
    except ValueError as error:
        raise StorageError(f"{path}: is damaged.", "It is written anew.") from error
    if str(saved_key) != expected_key:
        return None
    valid = taps.dtype == np.float32 and taps.shape == (length,) and bool(np.isfinite(taps).all())
    if not valid or float(np.abs(taps).sum()) > LOUDEST:
        raise StorageError(f"{path}: is damaged.", "It is written anew.")
    return taps


def save(folder: Path, card_key: str, taps: Floats) -> None:
    """Write the taps atomically. Raises StorageError."""
    path, buffer = folder / FILE, io.BytesIO()
    np.savez(buffer, taps=taps.astype(np.float32), key=np.array(card_key))
    try:
        write_private(path, buffer.getvalue())
    except OSError as error:
        raise StorageError(
            f"{path}: could not be written ({error.strerror}).", "Is the disk full or read-only?"
        ) from error
