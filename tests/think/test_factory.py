"""The choice of the model, its threads, and whether its state is saved for the next start."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from appliance.background_file import write_private
from appliance.runtime.process_table import row
from appliance.settings import Settings, load
from appliance.think.factory import choose, saves_recall_state, usable_threads


def test_the_threads_follow_the_existing_cores() -> None:
    here = os.sched_getaffinity(0)
    assert usable_threads(tuple(here)) == len(here)
    assert usable_threads((1000, 1001)) == max(1, len(here) - 1)


def settings(folder: Path, keep_turns: int, recall_turns: int = 12, url: str = "") -> Settings:
    remote = {"remote": {"url": url}} if url else {}
    return load(
        Path("/dev/null"),
        {"state_dir": str(folder), "thinking": remote,
         "memory": {"keep_turns": keep_turns, "recall_turns": recall_turns}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("keep_turns", "recall_turns", "is_saved"),
    [(2000, 12, True), (36, 12, True), (35, 12, False), (0, 12, False), (2000, 0, False)],
)
def test_the_state_is_saved_only_if_the_memory_keeps_enough_turns(
    tmp_path: Path, keep_turns: int, recall_turns: int, is_saved: bool
) -> None:
    assert saves_recall_state(settings(tmp_path, keep_turns, recall_turns)) == is_saved


@pytest.mark.parametrize(
    ("keep_turns", "url", "remains"),
    [(2000, "", True), (0, "", False), (2000, "http://127.0.0.1:1", False)],
)
def test_a_start_erases_a_state_that_is_no_longer_saved(
    tmp_path: Path, keep_turns: int, url: str, remains: bool
) -> None:
    state = tmp_path / "memory/states/memory.db.state-1"
    write_private(state, b"words")
    choose(settings(tmp_path, keep_turns, url=url), row("thinker"))
    deadline = time.monotonic() + (0.2 if remains else 10)
    while state.exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert state.exists() == remains
