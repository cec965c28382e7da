"""`interlude memory` shows the owner what is remembered and erases it on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.cli import memory as memory_commands
from appliance.dialog.memory import Memory, MemoryDamaged
from appliance.runtime.memory_files import path
from appliance.settings import Settings, load
from tests.dialog.turns import turn


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    empty = tmp_path / "settings.yaml"
    empty.write_text("")
    return load(empty, {"state_dir": str(tmp_path)})


def test_the_remembered_turns_are_shown(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(path(settings), 10)
    memory.remember(turn(1, complete=False))
    memory.close()
    assert memory_commands.cli_show(settings) == 0
    output = capsys.readouterr().out
    assert "(1.5 s of speech)" in output
    assert "The moon is grey. …(cut)" in output


def test_the_remembered_turns_can_be_forgotten(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(path(settings), 10)
    memory.remember(turn(1))
    memory.close()
    assert memory_commands.cli_forget(settings) == 0
    assert "1 turn is forgotten." in capsys.readouterr().out
    assert Memory(path(settings), 10).count() == 0


def test_without_a_memory_nothing_is_created(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert memory_commands.cli_show(settings) == 0
    assert memory_commands.cli_forget(settings) == 0
    assert capsys.readouterr().out == "Nothing is remembered.\nThere was nothing to forget.\n"
    assert not path(settings).parent.exists()


def test_a_damaged_memory_is_not_shown_but_can_be_forgotten(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    file = path(settings)
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    with pytest.raises(MemoryDamaged, match="is damaged"):
        memory_commands.cli_show(settings)
    assert memory_commands.cli_forget(settings) == 0
    assert list(file.parent.iterdir()) == []
