"""Synthesises one answer while the model still generates it: hidden states in, 80 ms frames out.

A token's phones need the token after it; a phone's length needs the three phones after it; a frame
needs all phones within it. So a frame waits for one or two tokens after its own, four at most. A
computed value never changes. To cancel a stream, drop it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.pcm import Samples
from appliance.voice.head.codec import Codec
from appliance.voice.head.networks import HeadNetworks
from appliance.voice.head.timeline import MIDDLE, Timeline

if TYPE_CHECKING:
    from appliance.voice.head.head_manifest import HeadManifest

Floats = npt.NDArray[np.float32]
LOUDEST = 32767


class HeadFrame(NamedTuple):
    """80 ms of sound. token: index of the pushed token that sounds in the frame's middle; it never
    decreases. codes: [codebooks]."""

    samples: Samples
    token: int
    codes: npt.NDArray[np.int64]


class HeadStream:
    """The synthesis of one answer, for use by one thread. Streams share only the weights."""

    def __init__(self, manifest: HeadManifest, networks: HeadNetworks, codec: Codec) -> None:
        self._manifest, self._networks, self._codec = manifest, networks, codec
        self._states: list[Floats] = []  # of tokens, [1 + layers, width]
        self._vectors: list[Floats] = []  # of tokens that the first network has read
        self._symbols: list[int] = []  # of phones
        self._phone_tokens: list[int] = []  # token of each phone
        self._phones: list[Floats] = []  # vectors of phones whose length is known
        self._timeline = Timeline(manifest.silence)
        self._past, self._sound = networks.start(), codec.start()
        self._waiting = np.zeros(0, np.float32)  # samples, less than a frame
        self._made: list[HeadFrame] = []  # without their samples, which the codec delays
        self._frame = 0
        self._ended = self.over = False

    def push(self, states: Floats, embedding_rows: Floats) -> None:
        """Append tokens: [n, layers, width] and [n, width]. Computes nothing."""
        m = self._manifest
        if states.shape[1:] != (m.layers, m.width) or embedding_rows.shape != (
            len(states),
            m.width,
        ):
            raise ModelError(
                f"A speech head for {m.layers} layers of {m.width} numbers cannot read states of"
                f" the shape {states.shape}."
            )
        joined = np.concatenate([embedding_rows[:, None], states], 1).astype(np.float32)
        self._states.extend(joined)

    def end(self) -> None:
        """No token follows."""
        self._ended = True

    def frames(self) -> list[HeadFrame]:
        """All frames that can be made now."""
        found = []
        while frame := self.frame():
            found.append(frame)
        return found

    def frame(self) -> HeadFrame | None:
        """The next frame, or None: it needs more tokens, or the stream is `over`. Raises
        ModelError."""
        size = self._codec.frame_samples
        while not self.over:
            if len(self._waiting) >= size:
                return self._pop_frame(size)
            if not self._advance():
                return None
        return None

    def _pop_frame(self, size: int) -> HeadFrame:
        now, self._waiting = self._waiting[:size], self._waiting[size:]
        frame = self._made.pop(0)
        if self._done() and not self._made:
            self.over = True
        level = np.rint(np.clip(now, -1.0, 1.0) * LOUDEST).astype(np.int16)
        return frame._replace(samples=level)

    def _advance(self) -> bool:
        """Compute phones, tokens and at most one frame. Returns whether a frame was made."""
        while not self._timeline.known(self._frame):
            if not (self._next_phone() or self._next_token()):
                break
        if self._timeline.known(self._frame) or (
            self._all_timed() and self._timeline.begun(self._frame)
        ):
            self._make_frame()
            if self._done():
                self._waiting = np.concatenate([self._waiting, self._codec.finish(self._sound)])
            return True
        if self._done():
            self.over = True
        return False

    def _done(self) -> bool:
        return self._all_timed() and not self._timeline.begun(self._frame)

    def _all_timed(self) -> bool:
        return self._all_read() and len(self._phones) == len(self._symbols)

    def _all_read(self) -> bool:
        return self._ended and len(self._vectors) == len(self._states)

    def _next_token(self) -> bool:
        i = len(self._vectors)
        if i >= len(self._states) or (i + 1 == len(self._states) and not self._ended):
            return False
        low = max(0, i - 1)
        vector, phones = self._networks.read(np.stack(self._states[low : i + 2]), i - low)
        self._vectors.append(vector)
        self._symbols.extend(phones.tolist())
        self._phone_tokens.extend([i] * len(phones))
        return True

    def _next_phone(self) -> bool:
        m, i = self._manifest, len(self._phones)
        last = i + m.phones_ahead
        if i >= len(self._symbols) or (last >= len(self._symbols) and not self._all_read()):
            return False
        low = max(0, i - m.phones_behind)
        near = slice(low, last + 1)
        tokens = np.stack([self._vectors[t] for t in self._phone_tokens[near]])
        symbols = np.array(self._symbols[near], np.int64)
        vector, seconds = self._networks.phone(symbols, tokens, i - low)
        self._phones.append(vector)
        self._timeline.add(self._symbols[i], self._phone_tokens[i], seconds)
        return True

    def _make_frame(self) -> None:
        phones, at = self._timeline.under(self._frame)
        under = np.stack([self._phones[p] for p in phones])
        codes, self._past = self._networks.frame(under, at, self._past)
        samples, self._sound = self._codec.decode(codes, self._sound)
        self._waiting = np.concatenate([self._waiting, samples])
        token = self._timeline.token(phones[MIDDLE])
        self._made.append(HeadFrame(np.zeros(0, np.int16), token, codes))
        self._frame += 1
