"""What a clip has been encoded to so far, and what an audio encoder is asked for. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

State = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class EncodedSound:
    """Soft tokens of a clip so far, float32[n, width].

    final  how many of them stay when more sound comes
    whole  they are all that the sound so far has; else the one that is not final is left out
    state  for the encoder that made it, to go on from the final ones; empty: it begins anew
    """

    rows: npt.NDArray[np.float32]
    final: int
    whole: bool
    state: State = field(default_factory=dict, repr=False)


class SoundEncoder(Protocol):
    """An audio encoder. All methods belong to one thread, but for `interrupt` and `resume`.

    width  of a soft token
    steps  rises with every step of its work
    """

    width: int
    steps: int

    def encode(
        self, samples: npt.NDArray[Any], begun: EncodedSound | None = None, *, whole: bool = True
    ) -> EncodedSound:
        """The soft tokens of a clip: int16, or float32 in -1 to 1, at 16 kHz.

        `begun`: what was made of the beginning of the same samples. Unless the `whole` is wanted,
        the token that the end cuts short is left out. Raises ModelError for what is not sound,
        AnswerAbandoned when interrupted; `begun` is then as it was.
        """
        ...

    def interrupt(self) -> None:
        """From any thread: make `encode` raise AnswerAbandoned, now and until `resume`."""
        ...

    def resume(self) -> None: ...
