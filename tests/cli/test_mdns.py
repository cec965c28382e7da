"""`interlude system mdns`: avahi's service file follows the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.cli.mdns import cli
from appliance.errors import SettingsError, StorageError
from appliance.settings import Settings, load


@pytest.fixture(autouse=True)
def as_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/interlude")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "interlude.service"


def announce(file: Path, **page: Any) -> int:
    return cli(lambda: load(None, {"page": page}), file)


def unusable() -> Settings:
    raise SettingsError("`page.prot` is no setting.", "Did you mean `page.port`?")


def test_the_file_is_written_changed_and_removed(file: Path) -> None:
    assert announce(file) == 0
    assert b"<port>80</port>" in file.read_bytes()
    announce(file, port=8123)
    assert b"<port>8123</port>" in file.read_bytes()
    announce(file, enabled=False)
    assert not file.exists()
    announce(file, enabled=False)
    assert list(file.parent.iterdir()) == []


def test_an_unchanged_file_is_not_written_again(file: Path) -> None:
    announce(file)
    before = file.stat()
    announce(file)
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_with_invalid_settings_an_existing_file_is_kept(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    announce(file, port=8123)
    assert cli(unusable, file) == 0
    assert b"<port>8123</port>" in file.read_bytes()
    assert "page.prot" in capsys.readouterr().out


def test_with_invalid_settings_and_no_file_the_defaults_are_written(file: Path) -> None:
    assert cli(unusable, file) == 0
    assert b"<port>80</port>" in file.read_bytes()


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        announce(tmp_path / "nowhere/interlude.service")
