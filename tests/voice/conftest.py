"""Makes voices of scripts, and ends them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.voice.program import ProgramVoice
from tests.voice.programs import engine


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., ProgramVoice]]:
    """Makes programs of scripts, and ends them."""
    every: list[ProgramVoice] = []

    def make(script: str, **options: object) -> ProgramVoice:
        folder = tmp_path / str(len(every))
        command = engine(folder, script).command(Path("no.onnx"))
        every.append(ProgramVoice("test", command, **options))  # type: ignore[arg-type]
        return every[-1]

    yield make
    for program in every:
        program.close()
