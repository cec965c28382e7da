"""The network status file, readable by every user."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.runtime.network_status import FILE, NetworkStatus, read_status, write_status


def test_a_status_is_readable_by_every_user(tmp_path: Path) -> None:
    written = NetworkStatus(problem="The Wi-Fi Home is out of range.", setup="Interlude 4711")
    write_status(written, tmp_path)
    assert read_status(tmp_path) == written
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b'{"setup": 1}', b" " * 10_000])
def test_an_invalid_file_gives_an_empty_status(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    assert read_status(tmp_path) == NetworkStatus()


def test_a_missing_file_gives_an_empty_status(tmp_path: Path) -> None:
    assert read_status(tmp_path / "nowhere") == NetworkStatus()
