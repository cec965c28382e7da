"""The three networks of a speech head, run one token, one phone and one frame at a time.

Always in the same shapes: however an answer's tokens come, each number is computed by the same
calls, and the codes are the same.
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

PAST_FRAMES = 3  # that a block of the frames' network looks back


class HeadNetworks:
    """Raises ModelError for a graph that cannot be opened, and, when it runs, for one that does
    not take or give what it should."""

    def __init__(self, folder: Path, manifest: HeadManifest, threads: int = 1) -> None:
        self._read, self._phones, self._frames = (
            open_session(folder / name, "the speech head's network", threads) for name in GRAPHS
        )
        self._folder = folder
        self._pasts = tuple(f"past{i}" for i in range(manifest.frame_blocks))
        self._shape = (1, manifest.frame_width, PAST_FRAMES)

    def start(self) -> Past:
        """Before the first frame."""
        return tuple(np.zeros(self._shape, np.float32) for _ in self._pasts)

    def read(self, states: Floats, row: int) -> tuple[Floats, Whole]:
        """Of token `row` among neighbours [n, 1 + layers, width]: its vector and its phones."""
        vectors, phones = self._run(self._read, ["vectors", "phones"], {"states": states})
        found = phones[row]
        blank = np.flatnonzero(found == 0)
        return vectors[row], found[: blank[0]] if len(blank) else found

    def phone(self, symbols: Whole, tokens: Floats, row: int) -> tuple[Floats, float]:
        """Of phone `row` among its neighbours: its vector and how many seconds it lasts."""
        given = {"symbols": symbols, "tokens": tokens}
        vectors, seconds = self._run(self._phones, ["vectors", "seconds"], given)
        return vectors[row], float(seconds[row])

    def frame(self, under: Floats, at: Floats, past: Past) -> tuple[Whole, Past]:
        """under [8, b], at [8, 5]: phones' vectors and positions → codes [codebooks]."""
        given = {"under": under[None], "at": at[None], **dict(zip(self._pasts, past, strict=True))}
        wanted = ["codes", *(name + SUFFIX for name in self._pasts)]
        codes, *after = self._run(self._frames, wanted, given)
        return codes[0], tuple(after)

    def _run(self, session: Any, wanted: list[str], given: dict[str, Any]) -> list[Any]:
        try:
            found: list[Any] = session.run(wanted, given)
        except Exception as error:  # onnxruntime's exceptions have no common base of their own
            problem = f"{self._folder}: the speech head fails ({first_line(error)})."
            raise ModelError(problem, REMEDY) from error
        return found
