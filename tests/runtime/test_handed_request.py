"""A request by an unprivileged part is taken once, and only as a regular file of its user."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from appliance.errors import NotAllowed, StorageError
from appliance.runtime.handed_request import RequestOutcome, ask, new_id, outcome, pop, tell


class ColourRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request for these tests."""

    id: str
    color: str = ""


ME = os.geteuid()


def test_a_request_is_taken_once(tmp_path: Path) -> None:
    ask("request", ColourRequest("1", "blue"), tmp_path)
    assert (tmp_path / "request").stat().st_mode & 0o777 == 0o600
    assert pop("request", ColourRequest, ME, tmp_path) == ColourRequest("1", "blue")
    assert pop("request", ColourRequest, ME, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_second_request_does_not_replace_the_first(tmp_path: Path) -> None:
    ask("request", ColourRequest("1"), tmp_path)
    with pytest.raises(NotAllowed):
        ask("request", ColourRequest("2"), tmp_path)
    assert pop("request", ColourRequest, ME, tmp_path) == ColourRequest("1")
    ask("request", ColourRequest("2"), tmp_path)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[" * 9999, b'{"id": 1}', b'{"id": "1", "x": 2}', b"\xff" * 99, b"0" * 99_999],
)
def test_an_invalid_request_is_removed_and_ignored(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "request").write_bytes(data)
    assert pop("request", ColourRequest, ME, tmp_path) is None
    assert not (tmp_path / "request").exists()


def test_another_users_file_is_ignored(tmp_path: Path) -> None:
    ask("request", ColourRequest("1"), tmp_path)
    assert pop("request", ColourRequest, ME + 1, tmp_path) is None
    assert not (tmp_path / "request").exists()


def test_a_symlink_a_fifo_and_a_folder_are_ignored_without_blocking(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "wanted", tmp_path / "secret"
    folder.mkdir()
    elsewhere.write_text('{"id": "1"}')
    (folder / "request").symlink_to(elsewhere)
    assert pop("request", ColourRequest, ME, folder) is None
    assert elsewhere.exists()
    os.mkfifo(folder / "request")
    assert pop("request", ColourRequest, ME, folder) is None
    (folder / "request/inside").mkdir(parents=True)
    assert pop("request", ColourRequest, ME, folder) is None
    assert not (folder / "request").exists()


def test_an_outcome_belongs_to_its_request(tmp_path: Path) -> None:
    first, second = new_id(), new_id()
    assert outcome("request", first, tmp_path) is None
    tell("request", RequestOutcome(first, "No.", "Ask."), tmp_path)
    assert outcome("request", first, tmp_path) == RequestOutcome(first, "No.", "Ask.")
    assert outcome("request", second, tmp_path) is None


def test_a_missing_folder_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="The system service"):
        ask("request", ColourRequest("1"), tmp_path / "no")
    with pytest.raises(StorageError):
        tell("request", RequestOutcome("1"), tmp_path / "no")
    assert pop("request", ColourRequest, ME, tmp_path / "no") is None
