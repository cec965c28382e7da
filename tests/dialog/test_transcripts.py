"""The model's transcripts of questions: kept, recalled, forgotten, and sent nowhere else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from appliance.cli import memory as memory_commands
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.dialog.memory_erase import LastTurn, forget_all, forget_turn
from appliance.messages.commands import Ask
from appliance.messages.playback import PlaybackFinished
from appliance.messages.registry import ObservedMessage
from appliance.messages.thinking import AnswerHeard, Transcribed
from appliance.runtime import memory_files
from appliance.settings import Settings, load
from tests.dialog.conductor_box import Box, settings_in

CANARY = "my doctor is at noon"

# the schema and statements of the release before transcripts
OLD_LAYOUT = """
CREATE TABLE turns (id INTEGER PRIMARY KEY, started TEXT NOT NULL, turn INTEGER NOT NULL,
    asked TEXT NOT NULL, seconds REAL NOT NULL, heard TEXT NOT NULL, complete INTEGER NOT NULL,
    model TEXT NOT NULL) STRICT
"""
OLD_INSERT = """
INSERT INTO turns (started, turn, asked, seconds, heard, complete, model)
VALUES ('2026-01-01', 7, '', 1.5, 'Grey.', 1, 'pocket')
"""
OLD_SELECT = "SELECT started, turn, asked, seconds, heard, complete, model FROM turns"


def turn(number: int, transcript: str = "") -> RememberedTurn:
    started = f"2026-01-01T10:00:{number:02d}+00:00"
    return RememberedTurn(started, number, "", 1.5, f"Answer {number}.", True, "pocket", transcript)


def bytes_of(file: Path) -> bytes:
    return b"".join(each.read_bytes() for each in file.parent.iterdir())


# ── on disk ──────────────────────────────────────────────────────────────────────────────────
def test_a_transcript_stays_with_its_turn(file: Path) -> None:
    memory = Memory(file, 10)
    for number in range(3):
        memory.remember(turn(number))
    memory.transcribe(turn(1).started, 1, "tell me about the moon")
    memory.close()
    assert Memory(file, 10).recall(9) == [turn(0), turn(1, "tell me about the moon"), turn(2)]


def test_turns_of_another_day_with_the_same_number_are_left_alone(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1))
    memory.transcribe("2025-01-01T10:00:00+00:00", 1, CANARY)
    assert memory.recall(9) == [turn(1)]
    memory.close()
    assert CANARY.encode() not in bytes_of(file)


@pytest.mark.parametrize("forget", [lambda file: forget_turn(file, 10, LastTurn()), forget_all])
def test_forgetting_erases_the_transcript_from_every_file(
    file: Path, forget: Callable[[Path], None]
) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1))
    memory.transcribe(turn(1).started, 1, CANARY)
    memory.close()
    assert CANARY.encode() in bytes_of(file)
    forget(file)
    assert CANARY.encode() not in bytes_of(file)


def old_file(file: Path) -> None:
    file.parent.mkdir()
    with sqlite3.connect(file) as old:
        old.execute(OLD_LAYOUT)
        old.execute(OLD_INSERT)
        old.execute("PRAGMA user_version = 1")
    old.close()


def test_a_memory_from_before_transcripts_is_kept_and_stores_new_ones(file: Path) -> None:
    old_file(file)
    memory = Memory(file, 10)
    memory.transcribe("2026-01-01", 7, "what colour is the moon")
    (only,) = memory.recall(9)
    assert (only.heard, only.transcript) == ("Grey.", "what colour is the moon")
    memory.close()


def test_a_release_from_before_transcripts_can_read_and_write_the_file(file: Path) -> None:
    """As after a fallback to that release."""
    memory = Memory(file, 10)
    memory.remember(turn(1, "tell me about the moon"))
    memory.close()
    with sqlite3.connect(file) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (1,)
        assert len(old.execute(OLD_SELECT).fetchall()) == 1
        old.execute(OLD_INSERT)
    old.close()
    assert [each.transcript for each in Memory(file, 10).recall(9)] == [
        "tell me about the moon", "",
    ]  # fmt: skip


def test_an_old_memory_that_cannot_get_the_new_column_is_still_read(file: Path) -> None:
    """As on a full disk; here a write lock of another program."""
    old_file(file)
    Memory(file, 10).close()
    with sqlite3.connect(file) as old:
        old.execute("ALTER TABLE turns DROP COLUMN transcript")
    old.close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    memory = Memory(file, 10)
    other.execute("COMMIT")
    other.close()
    assert [each.heard for each in memory.recall(9)] == ["Grey."]
    memory.remember(turn(8))
    memory.rewrite(memory.recall(9))
    assert [(each.turn, each.transcript) for each in memory.recall(9)] == [(7, ""), (8, "")]
    memory.close()


def settings(tmp_path: Path, **changes: Any) -> Settings:
    empty = tmp_path / "settings.yaml"
    empty.write_text("")
    return load(empty, {"state_dir": str(tmp_path), **changes})


def test_memory_show_prints_the_transcripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = settings(tmp_path)
    memory = Memory(memory_files.path(config), 10)
    memory.remember(turn(1, "tell me about the moon"))
    memory.remember(turn(2))
    memory.close()
    assert memory_commands.cli_show(config) == 0
    output = capsys.readouterr().out
    assert "owner: tell me about the moon (as the model heard it)\n" in output
    assert "owner: (1.5 s of speech)\n" in output


# ── through the conductor ────────────────────────────────────────────────────────────────────
@pytest.fixture
def answered(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Any:
    """A box that sends words over MQTT, after a spoken question whose answer was heard."""
    config = load(settings_file(tmp_path), {"state_dir": str(tmp_path), "log": "debug"})
    box = Box(config)
    box.load_model()
    number = box.question()
    box.answer("The moon is grey.")
    box.say("playback", PlaybackFinished(number, 16_000, 0))
    box.state("idle")
    yield box, number
    box.supervisor.stop_all()
    box.supervisor.close()


def settings_file(folder: Path) -> Path:
    settings_in(folder)
    file = folder / "settings.yaml"
    file.write_text("link: {words: true}\n")
    return file


def transcripts_on_disk(box: Box) -> list[str]:
    """Stop the box in order and read the transcripts on disk."""
    box.supervisor.stop_all()
    return [each.transcript for each in Memory(memory_files.path(box.settings), 10).recall(9)]


@pytest.mark.process
def test_the_thinkers_transcript_reaches_the_disk_only(
    answered: tuple[Box, int], capfd: pytest.CaptureFixture[str]
) -> None:
    box, number = answered
    box.get("link", AnswerHeard)  # the answer's words may leave the box
    box.say("thinker", Transcribed(number, CANARY))
    seen: dict[str, list[object]] = {peer: [] for peer in ("link", "room", "listener", "speaker")}

    def the_next_question_is_seen() -> bool:
        for peer, messages in seen.items():
            messages += box.channels[peer].receive_all()
        return any(
            isinstance(each, ObservedMessage) and isinstance(each.message, Ask)
            for each in seen["room"]
        )

    box.say("room", Ask("and the sea?"))
    box.until(the_next_question_is_seen)
    assert transcripts_on_disk(box) == [CANARY]
    assert CANARY not in repr(seen)
    assert CANARY not in "".join(capfd.readouterr())


@pytest.mark.process
@pytest.mark.parametrize("peer", ["link", "speaker", "listener"])
def test_only_the_thinker_can_report_a_transcript(answered: tuple[Box, int], peer: str) -> None:
    box, number = answered
    box.say(peer, Transcribed(number, CANARY))
    box.say("thinker", Transcribed(number, "the moon"))
    assert transcripts_on_disk(box) == ["the moon"]
