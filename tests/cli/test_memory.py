"""`interlude memory`: the owner is shown what is remembered, and may have it forgotten."""

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


def test_the_owner_is_shown_what_is_remembered(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(path(settings), 10)
    memory.remember(turn(1, complete=False))
    memory.close()
    assert memory_commands.cli_show(settings) == 0
    said = capsys.readouterr().out
    assert "(1.5 s of speech)" in said
    assert "The moon is grey. …(cut)" in said


def test_the_owner_may_have_it_forgotten(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(path(settings), 10)
    memory.remember(turn(1))
    memory.close()
    assert memory_commands.cli_forget(settings) == 0
    assert "1 turn is forgotten." in capsys.readouterr().out
    assert Memory(path(settings), 10).count() == 0


def test_where_nothing_is_remembered_nothing_is_made(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert memory_commands.cli_show(settings) == 0
    assert memory_commands.cli_forget(settings) == 0
    assert capsys.readouterr().out == "Nothing is remembered.\nThere was nothing to forget.\n"
    assert not path(settings).parent.exists()


def test_a_damaged_memory_is_not_shown_but_may_be_forgotten(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    file = path(settings)
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    with pytest.raises(MemoryDamaged, match="is damaged"):
        memory_commands.cli_show(settings)
    assert memory_commands.cli_forget(settings) == 0
    assert list(file.parent.iterdir()) == []
