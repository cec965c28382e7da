"""The soft tokens of a clip so far, and the interface of an audio encoder. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

State = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class EncodedSound:
    """Soft tokens of a clip so far, float32[n, width].

    final  number of tokens that do not change when more sound comes
    whole  True: all tokens of the sound so far; False: the incomplete last token is left out
    state  the encoder's state after the final tokens; empty: it starts again from the beginning
    """

    rows: npt.NDArray[np.float32]
    final: int
    whole: bool
    state: State = field(default_factory=dict, repr=False)


class SoundEncoder(Protocol):
    """An audio encoder. All methods but `interrupt` and `resume` must be called from one thread.

    width  number of values in a soft token
    steps  rises with every step of its work
    """

    width: int
    steps: int

    def encode(
        self, samples: npt.NDArray[Any], prefix: EncodedSound | None = None, *, whole: bool = True
    ) -> EncodedSound:
        """Encode a clip, int16, or float32 in -1 to 1, at 16 kHz, to soft tokens.

        `prefix`: the result for a prefix of the same samples. Without `whole`, the incomplete token
        at the end is left out. Raises ModelError for samples that are not finite, AnswerAbandoned
        when interrupted; `prefix` is then unchanged.
        """
        ...

    def interrupt(self) -> None:
        """Make `encode` raise AnswerAbandoned until `resume`. May be called from any thread."""
        ...

    def resume(self) -> None: ...
