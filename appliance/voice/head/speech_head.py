"""A speech head: networks that turn a language model's hidden states into speech, and its codec.

It is opened once; each answer has its own stream (head_stream.py).
"""

from __future__ import annotations

from pathlib import Path

from appliance.errors import ModelError
from appliance.voice.head.codec import Codec
from appliance.voice.head.head_manifest import read_head_manifest
from appliance.voice.head.head_stream import HeadStream
from appliance.voice.head.manifest import REMEDY
from appliance.voice.head.networks import HeadNetworks


class SpeechHead:
    """The head in `folder`. Raises ModelError if files are missing, damaged, or do not match."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self.manifest = read_head_manifest(folder)
        self._networks = HeadNetworks(folder, self.manifest, threads)
        self._codec = Codec(folder / self.manifest.codec, threads)
        found = (self._codec.rate_hz, self._codec.frame_samples)
        if found != (self.manifest.rate_hz, self.manifest.frame_samples):
            raise ModelError(f"{folder}: the head and its codec do not belong together.", REMEDY)

    @property
    def rate_hz(self) -> int:
        """Sample rate of its sound."""
        return self.manifest.rate_hz

    @property
    def frame_samples(self) -> int:
        """Samples of a frame, 80 ms."""
        return self.manifest.frame_samples

    @property
    def layers(self) -> int:
        """Number of a token's states that it reads, not counting the embedding."""
        return self.manifest.layers

    @property
    def width(self) -> int:
        """Number of values of a state."""
        return self.manifest.width

    @property
    def lead_tokens(self) -> int:
        """Most later tokens that a token waits for before it sounds."""
        return self.manifest.lead_tokens

    @property
    def dbfs(self) -> float:
        """Mean loudness of its speech."""
        return self.manifest.dbfs

    def begin(self) -> HeadStream:
        """A new stream, for one answer. It loads nothing."""
        return HeadStream(self.manifest, self._networks, self._codec)
