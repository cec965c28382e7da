"""From the conversation to the disk and back: turns and their transcripts."""

from __future__ import annotations

import logging
import select
import time
from pathlib import Path
from typing import Any

import pytest

from appliance.dialog.actions import EraseMemory, Remember, SendRecall
from appliance.dialog.memory_client import MemoryClient
from appliance.language.catalogue import english
from appliance.messages.thinking import Recall, Transcribed
from appliance.runtime import memory_files
from appliance.settings import Settings, load

CANARY = "my doctor is at noon"


def bytes_of(file: Path) -> bytes:
    return b"".join(each.read_bytes() for each in file.parent.iterdir())


def settings(tmp_path: Path, **changes: Any) -> Settings:
    empty = tmp_path / "settings.yaml"
    empty.write_text("")
    return load(empty, {"state_dir": str(tmp_path), **changes})


def remember(keeping: MemoryClient, number: int) -> None:
    asked_s = time.monotonic()
    keeping.carry_out(Remember(number, asked_s, "", 1.5, f"Answer {number}.", True), "pocket")


def news(keeping: MemoryClient) -> list[Any]:
    """The next thing that the disk has to tell."""
    poll = select.poll()
    poll.register(keeping.fileno(), select.POLLIN)
    assert poll.poll(10_000), "nothing came"
    return list(keeping.poll(time.monotonic()))


def recalled(keeping: MemoryClient) -> list[tuple[str, str, str]]:
    keeping.carry_out(SendRecall(), "pocket")
    (recall,) = (each for each in news(keeping) if isinstance(each, Recall))
    return list(recall.turns)


def test_questions_and_answers_are_recalled_after_a_restart(tmp_path: Path) -> None:
    chosen = settings(tmp_path)
    keeping = MemoryClient(chosen, logging.getLogger("test"), english().say)
    for number, said in ((4, "tell me about the moon"), (5, ""), (6, "and the sea")):
        remember(keeping, number)
        if said:
            keeping.transcribed(Transcribed(number, said))
    keeping.close()
    again = MemoryClient(chosen, logging.getLogger("test"), english().say)
    assert recalled(again) == [
        ("", "tell me about the moon", "Answer 4."), ("", "", "Answer 5."),
        ("", "and the sea", "Answer 6."),
    ]  # fmt: skip
    again.transcribed(Transcribed(5, CANARY))  # a number of before the restart: another turn
    assert recalled(again)[1] == ("", "", "Answer 5.")
    again.close()


@pytest.mark.parametrize("last", [True, False])
def test_a_transcript_of_a_turn_that_was_forgotten_is_not_kept(tmp_path: Path, last: bool) -> None:
    chosen = settings(tmp_path)
    keeping = MemoryClient(chosen, logging.getLogger("test"), english().say)
    remember(keeping, 4)
    keeping.carry_out(EraseMemory(last=last), "pocket")
    keeping.transcribed(Transcribed(4, CANARY))
    news(keeping)
    assert recalled(keeping) == []
    keeping.close()
    assert CANARY.encode() not in bytes_of(memory_files.path(chosen))


def test_without_a_memory_nothing_is_kept(tmp_path: Path) -> None:
    chosen = settings(tmp_path, memory={"keep_turns": 0})
    keeping = MemoryClient(chosen, logging.getLogger("test"), english().say)
    remember(keeping, 4)
    keeping.transcribed(Transcribed(4, CANARY))
    keeping.close()
    assert not memory_files.path(chosen).exists()
