"""The three networks of a speech head, run one token, one phone and one frame at a time.

The calls do not depend on how many tokens arrive at once: each value is computed by the same call,
so the codes are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.onnx_session import first_line, open_session
from appliance.voice.head.head_manifest import GRAPHS, HeadManifest
from appliance.voice.head.manifest import REMEDY, SUFFIX

Floats = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]
Past = tuple[Floats, ...]

PAST_FRAMES = 3  # past frames that a block of the frames' network uses


class HeadNetworks:
    """Opens and runs the graphs. Raises ModelError for a graph that cannot be opened, and, in a
    run, for one with other inputs or outputs."""

    def __init__(self, folder: Path, manifest: HeadManifest, threads: int = 1) -> None:
        self._read, self._phones, self._frames = (
            open_session(folder / name, "the speech head's network", threads) for name in GRAPHS
        )
        self._folder = folder
        self._pasts = tuple(f"past{i}" for i in range(manifest.frame_blocks))
        self._shape = (1, manifest.frame_width, PAST_FRAMES)

    def start(self) -> Past:
        """The state before the first frame."""
        return tuple(np.zeros(self._shape, np.float32) for _ in self._pasts)

    def read(self, states: Floats, row: int) -> tuple[Floats, Whole]:
        """The vector and the phones of token `row`; states with its neighbours: [n, 1 + layers,
        width]."""
        vectors, phones = self._run(self._read, ["vectors", "phones"], {"states": states})
        found = phones[row]
        blank = np.flatnonzero(found == 0)
        return vectors[row], found[: blank[0]] if len(blank) else found

    def phone(self, symbols: Whole, tokens: Floats, row: int) -> tuple[Floats, float]:
        """The vector of phone `row`, given with its neighbours, and its length in seconds."""
        inputs = {"symbols": symbols, "tokens": tokens}
        vectors, seconds = self._run(self._phones, ["vectors", "seconds"], inputs)
        return vectors[row], float(seconds[row])

    def frame(self, under: Floats, at: Floats, past: Past) -> tuple[Whole, Past]:
        """under [8, b], at [8, 5]: phones' vectors and positions → codes [codebooks]."""
        inputs = {"under": under[None], "at": at[None], **dict(zip(self._pasts, past, strict=True))}
        outputs = ["codes", *(name + SUFFIX for name in self._pasts)]
        codes, *after = self._run(self._frames, outputs, inputs)
        return codes[0], tuple(after)

    def _run(self, session: Any, outputs: list[str], inputs: dict[str, Any]) -> list[Any]:
        try:
            found: list[Any] = session.run(outputs, inputs)
        except Exception as error:  # onnxruntime's exceptions have no common base of their own
            problem = f"{self._folder}: the speech head fails ({first_line(error)})."
            raise ModelError(problem, REMEDY) from error
        return found
