"""Fixtures: a tiny Gemma with random weights, written once per session, and models opened on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.models.local_model import LocalModel, Sampling
from appliance.think.gemma import Gemma
from appliance.think.local import LocalGemma
from tests.think import tiny
from tests.think.local_talk import Make, thinking
from tests.think.opened import open_local
from tests.think.recalling import Box

GREEDY = Sampling(temperature=0.0)


@pytest.fixture(scope="session")
def tiny_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Paths of the text model and the audio model."""
    return tiny.write(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny_model(tiny_files: tuple[Path, Path]) -> LocalModel:
    return LocalModel("tiny", *tiny_files, sampling=Sampling(temperature=0.0))


@pytest.fixture
def gemma(tiny_files: tuple[Path, Path]) -> Iterator[Callable[[], Gemma]]:
    """Loads tiny Gemmas and closes them after the test."""
    loaded: list[Gemma] = []

    def load(context_tokens: int = 2048, sampling: Sampling = GREEDY) -> Gemma:
        model = Gemma(*tiny_files, context_tokens=context_tokens, threads=1, sampling=sampling)
        loaded.append(model)
        return model

    yield load
    for model in loaded:
        model.close()


@pytest.fixture
def start_box(tiny_model: LocalModel, tmp_path: Path) -> Iterator[Callable[[], Box]]:
    made: list[Box] = []

    def begin() -> Box:
        for before in made:
            before.close()
        made.append(Box(tiny_model, tmp_path))
        return made[-1]

    yield begin
    for opened in made:
        opened.close()


@pytest.fixture
def make(tiny_model: LocalModel) -> Iterator[Make]:
    made: list[LocalGemma] = []

    def local(own: dict[str, Any] | None = None, **changes: Any) -> LocalGemma:
        made.append(open_local(replace(tiny_model, **(own or {})), thinking(**changes), 1))
        return made[-1]

    yield local
    for model in made:
        model.close()
