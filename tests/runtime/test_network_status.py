"""How the network is, as anybody may read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.runtime.network_status import FILE, NetworkStatus, read_status, write_status


def test_what_is_written_is_read_by_everybody(tmp_path: Path) -> None:
    written = NetworkStatus(problem="The Wi-Fi Home is out of range.", setup="Interlude 4711")
    write_status(written, tmp_path)
    assert read_status(tmp_path) == written
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b'{"setup": 1}', b" " * 10_000])
def test_what_is_no_reading_is_an_empty_one(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    assert read_status(tmp_path) == NetworkStatus()


def test_where_nothing_was_written_nothing_is_known(tmp_path: Path) -> None:
    assert read_status(tmp_path / "nowhere") == NetworkStatus()
