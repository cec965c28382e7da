"""A fixture that starts voice programs from scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.voice.program import ProgramVoice
from tests.voice.programs import engine


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., ProgramVoice]]:
    """Starts voice programs from scripts and closes them after the test."""
    every: list[ProgramVoice] = []

    def make(script: str, **options: object) -> ProgramVoice:
        folder = tmp_path / str(len(every))
        command = engine(folder, script).command(Path("no.onnx"))
        every.append(ProgramVoice("test", command, **options))  # type: ignore[arg-type]
        return every[-1]

    yield make
    for program in every:
        program.close()
