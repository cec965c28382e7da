"""Binds speexdsp's echo canceller by ctypes, for reference only: a bench compares the box's own
with it, and the verdict's network is trained on its output, too. Linear, without a suppressor.
"""

from __future__ import annotations

import ctypes
import weakref

import numpy as np

from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import Samples
from lab.bench.benches import BenchError

_LIBRARY = "libspeexdsp.so.1"
_SET_SAMPLING_RATE = 24  # SPEEX_ECHO_SET_SAMPLING_RATE, speex_echo.h


class SpeexCanceller:
    """Removes the echo of the box's own voice from the microphone's sound, block by block.

    The adapted filter is kept while the box is silent. `active` is false once playback was silent
    for longer than the tail: there is no echo then, and the library is not called.
    """

    path_changes = 0  # echo path changes are not detected
    late_reverb_db = -100.0
    misalignment_db = -100.0
    knows_echo = False

    def __init__(self, *, tail_ms: int, frames: int, rate_hz: int) -> None:
        """Raises BenchError when the library is not installed."""
        self._library = _load()
        tail_frames = tail_ms * rate_hz // 1000
        state = self._library.speex_echo_state_init(frames, tail_frames)
        if not state:
            raise BenchError("speexdsp: out of memory.", "Close other programs.")
        self._state = ctypes.c_void_p(state)
        rate = ctypes.c_int(rate_hz)
        self._library.speex_echo_ctl(self._state, _SET_SAMPLING_RATE, ctypes.byref(rate))
        weakref.finalize(self, self._library.speex_echo_state_destroy, self._state)
        self._mic, self._played, self._left = (np.zeros(frames, np.int16) for _ in range(3))
        self._pointers = [
            ctypes.c_void_p(array.ctypes.data) for array in (self._mic, self._played, self._left)
        ]
        # Blocks may be skipped only when the filter's complete history of playback is zeros.
        self._tail_steps = -(-tail_frames // frames) + 2
        self._silent_steps = self._tail_steps

    @property
    def active(self) -> bool:
        return self._silent_steps < self._tail_steps

    def cancel_echo(
        self, mic: Samples, played: Samples, clipped: Floats | None = None, *, mic_off: bool = False
    ) -> Samples:
        """Return `mic`, int16[frames], without the echo of `played`, int16[frames]."""
        self._silent_steps = 0 if played.any() else self._silent_steps + 1
        if mic_off or not self.active:
            return mic
        self._mic[:] = mic
        self._played[:] = played
        self._library.speex_echo_cancellation(self._state, *self._pointers)
        return self._left.copy()


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise BenchError(
            f"The library {_LIBRARY} is not installed.", "Install it: apt-get install libspeexdsp1."
        ) from error
    library.speex_echo_state_init.restype = ctypes.c_void_p
    library.speex_echo_state_init.argtypes = [ctypes.c_int, ctypes.c_int]
    return library
