"""Only one box at a time can use a state folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import AlreadyRunning
from appliance.runtime.supervision import single_instance

pytestmark = pytest.mark.process

HOLDS = """
import sys, time
from pathlib import Path
from appliance.runtime.supervision import single_instance
single_instance.lock_instance(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock of the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, tmp_path], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_box_on_the_same_folder_is_refused(
    other: subprocess.Popen[str], tmp_path: Path
) -> None:
    with pytest.raises(AlreadyRunning, match="runs with"):
        single_instance.lock_instance(tmp_path, wait_s=0.1)
    os.close(single_instance.lock_instance(tmp_path / "its own"))
    other.kill()
    other.communicate()


def test_a_killed_box_releases_the_folder(other: subprocess.Popen[str], tmp_path: Path) -> None:
    other.kill()
    os.close(single_instance.lock_instance(tmp_path))
    other.communicate()


def test_an_unusable_folder_does_not_prevent_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert single_instance.lock_instance(tmp_path / "file" / "folder") == -1
