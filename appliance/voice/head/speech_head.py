"""A speech head: networks that turn a language model's hidden states into speech, and its codec.

Opened once; each answer is a stream of its own (head_stream.py).
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
    """Of the files in `folder`. Raises ModelError: missing, damaged, or not for one another."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self.manifest = read_head_manifest(folder)
        self._networks = HeadNetworks(folder, self.manifest, threads)
        self._codec = Codec(folder / self.manifest.codec, threads)
        found = (self._codec.rate_hz, self._codec.frame_samples)
        if found != (self.manifest.rate_hz, self.manifest.frame_samples):
            raise ModelError(f"{folder}: the head and its codec do not belong together.", REMEDY)

    @property
    def rate_hz(self) -> int:
        """Of its samples."""
        return self.manifest.rate_hz

    @property
    def frame_samples(self) -> int:
        """80 ms of them."""
        return self.manifest.frame_samples

    @property
    def layers(self) -> int:
        """Of the states it reads, beside the embedding."""
        return self.manifest.layers

    @property
    def width(self) -> int:
        """Of a state, in numbers."""
        return self.manifest.width

    @property
    def lead_tokens(self) -> int:
        """So many later tokens are waited for at most before a token sounds."""
        return self.manifest.lead_tokens

    @property
    def dbfs(self) -> float:
        """How loud its speech is."""
        return self.manifest.dbfs

    def begin(self) -> HeadStream:
        """An answer's stream. Cheap."""
        return HeadStream(self.manifest, self._networks, self._codec)
