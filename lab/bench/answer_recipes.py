"""Defines the recipes that `bench answer` compares, and installs the model that they share.

A recipe is the normal box with other settings or another kind of thinker (answer_thinker.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from appliance.errors import StorageError
from appliance.models.store import ModelStore, PinnedRevision
from appliance.runtime import process_table
from appliance.settings import Settings
from lab.bench import model_weights
from lab.bench.answer_texts import ANSWERS
from lab.bench.model_shape import E2B, Shape
from lab.sim.rehearsal_cli import load_over

MODEL = "synthetic-e2b"
THREADS = 2  # as on a Pi, where the thinker has two cores
# About ten turns, as many as a start recalls: prefill of a token costs more in a longer context.
HISTORY_TOKENS = 1200
_UNKNOWN = "0" * 64  # stands for the checksum, which synthetic weights do not have


@dataclass(frozen=True)
class Recipe:
    """A recipe. `thinker`: a key of answer_thinker.KINDS. `changes`: settings that differ.
    `events`: default number of questions."""

    name: str
    about: str
    thinker: str
    changes: dict[str, Any]
    events: int = 60


_LLAMA = {"thinking": {"audio_encoder": "llama"}}
_SILENCE = {"hearing": {"turn": {"judge": "none"}}}
RECIPES: tuple[Recipe, ...] = (
    Recipe("this", "the box as it is", "this", {}),
    Recipe("patch", "without the patch: all layers for every token", "all layers", {}),
    Recipe("streaming", "without the streaming encoder: llama.cpp's", "this", _LLAMA),
    Recipe("judge", "without judged ends: 500 ms of silence", "this", _SILENCE),
    Recipe(
        "article", "the article: silence, one encoding, whole prompt, whole sentence",
        "whole prompt", _LLAMA | _SILENCE, events=20,
    ),
)  # fmt: skip


def rows() -> dict[str, process_table.Process]:
    """The rows of the process table by name, with the lab's module for the thinker. The bench's own
    nice value is added to each, so that a prioritised bench prioritises all of its parts."""
    own_nice = os.getpriority(os.PRIO_PROCESS, 0)
    found = {row.name: replace(row, nice=row.nice + own_nice) for row in process_table.PROCESSES}
    found["thinker"] = replace(found["thinker"], package="lab.bench", module="answer_thinker")
    return found


def install(folder: Path, settings: Settings, words: list[str], shape: Shape = E2B) -> Settings:
    """Write synthetic weights to `folder`, and link them into the model store as an owner's model.
    Returns the settings that select it. Raises StorageError."""
    files = model_weights.write(shape, folder, [*words, *ANSWERS])
    files_of_roles = {
        role: {"file": path.name, "size": path.stat().st_size, "sha256": _UNKNOWN}
        for role, path in zip(("text", "audio"), files, strict=True)
    }
    threads = settings.thinking.threads or min(THREADS, len(os.sched_getaffinity(0)))
    changed = load_over(settings, {
        "models": {MODEL: files_of_roles},
        "models_dir": str((folder / "models").absolute()),
        "thinking": {"model": MODEL, "threads": threads, "history_tokens": HISTORY_TOKENS},
    })  # fmt: skip
    store = ModelStore.of(changed)
    model = store.models[MODEL]
    try:
        store.folder(model).mkdir(parents=True, exist_ok=True)
        for role, path in zip(("text", "audio"), files, strict=True):
            link = store.path(model, model.files[role])
            link.unlink(missing_ok=True)
            link.hardlink_to(path)
    except OSError as error:
        raise StorageError(f"{folder}: the weights cannot be put in place ({error}).") from error
    found = {file.path: file for file in model.files.values()}
    store.mark_complete(model, PinnedRevision("", found))
    return changed
