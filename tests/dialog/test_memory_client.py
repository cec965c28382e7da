"""From the dialogue to the disk and back: turns and their transcripts."""

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


def remember(client: MemoryClient, number: int) -> None:
    asked_s = time.monotonic()
    client.carry_out(Remember(number, asked_s, "", 1.5, f"Answer {number}.", True), "pocket")


def news(client: MemoryClient) -> list[Any]:
    """Wait for the client's next news."""
    poll = select.poll()
    poll.register(client.fileno(), select.POLLIN)
    assert poll.poll(10_000), "no news in time"
    return list(client.poll(time.monotonic()))


def recalled(client: MemoryClient) -> list[tuple[str, str, str]]:
    client.carry_out(SendRecall(), "pocket")
    (recall,) = (each for each in news(client) if isinstance(each, Recall))
    return list(recall.turns)


def test_questions_and_answers_are_recalled_after_a_restart(tmp_path: Path) -> None:
    config = settings(tmp_path)
    client = MemoryClient(config, logging.getLogger("test"), english().say)
    for number, said in ((4, "tell me about the moon"), (5, ""), (6, "and the sea")):
        remember(client, number)
        if said:
            client.transcribed(Transcribed(number, said))
    client.close()
    restarted = MemoryClient(config, logging.getLogger("test"), english().say)
    assert recalled(restarted) == [
        ("", "tell me about the moon", "Answer 4."), ("", "", "Answer 5."),
        ("", "and the sea", "Answer 6."),
    ]  # fmt: skip
    restarted.transcribed(Transcribed(5, CANARY))  # another turn since the restart
    assert recalled(restarted)[1] == ("", "", "Answer 5.")
    restarted.close()


@pytest.mark.parametrize("last", [True, False])
def test_a_transcript_of_a_turn_that_was_forgotten_is_not_kept(tmp_path: Path, last: bool) -> None:
    config = settings(tmp_path)
    client = MemoryClient(config, logging.getLogger("test"), english().say)
    remember(client, 4)
    client.carry_out(EraseMemory(last=last), "pocket")
    client.transcribed(Transcribed(4, CANARY))
    news(client)
    assert recalled(client) == []
    client.close()
    assert CANARY.encode() not in bytes_of(memory_files.path(config))


def test_without_a_memory_nothing_is_kept(tmp_path: Path) -> None:
    config = settings(tmp_path, memory={"keep_turns": 0})
    client = MemoryClient(config, logging.getLogger("test"), english().say)
    remember(client, 4)
    client.transcribed(Transcribed(4, CANARY))
    client.close()
    assert not memory_files.path(config).exists()
