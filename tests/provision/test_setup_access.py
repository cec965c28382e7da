"""Root's files about the open set-up, as its page reads them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from appliance.provision.network_manager import WifiInReach
from appliance.provision.setup_access import (
    OPEN,
    PROBLEM,
    SetupAccess,
    read_access,
    read_problem,
)


def test_without_a_set_up_there_is_no_access_and_no_problem(tmp_path: Path) -> None:
    assert read_access(tmp_path) is None
    assert read_problem(tmp_path) == ""


def test_the_open_set_up_is_read_as_it_was_written(tmp_path: Path) -> None:
    access = SetupAccess("10.0.0.1", networks=(WifiInReach("Home", -50, True),), language="de")
    (tmp_path / OPEN).write_bytes(msgspec.json.encode(access))
    (tmp_path / PROBLEM).write_text("The password of Zuhause does not fit: Grüße.", "utf-8")
    assert read_access(tmp_path) == access
    assert read_problem(tmp_path) == "The password of Zuhause does not fit: Grüße."


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"address": 7}', b"\xff"])
def test_a_damaged_file_is_no_open_set_up(tmp_path: Path, data: bytes) -> None:
    (tmp_path / OPEN).write_bytes(data)
    assert read_access(tmp_path) is None
