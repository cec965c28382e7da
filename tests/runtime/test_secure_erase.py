"""Secure erase overwrites data on the raw card, follows no symlink and never blocks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from appliance.runtime import secure_erase
from tests.card import card
from tests.dialog.test_memory_erase import CANARY

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]


def test_a_folder_replaced_by_a_symlink_midway_is_not_followed(tmp_path: Path) -> None:
    """The folder is replaced before the nth call that opens, lists or removes, for each n."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "from appliance.runtime.secure_erase import erase\n"
        "here, left = Path(sys.argv[1]), 0\n"
        "def exchange(event, args):\n"
        "    global left\n"
        "    if event not in ('open', 'os.listdir', 'os.remove', 'os.rmdir'): return\n"
        "    left -= 1\n"
        "    if left == -1:\n"
        "        (here / 'log/d').rename(here / 'log/was'); (here / 'log/d').symlink_to('../etc')\n"
        "sys.addaudithook(exchange)\n"
        "for number in range(20):\n"
        "    left = 1000\n"
        "    here = Path(sys.argv[1], str(number)); (here / 'log/d').mkdir(parents=True)\n"
        "    (here / 'etc').mkdir()\n"
        "    for name in 'etc/file', 'log/d/file': (here / name).write_text('precious')\n"
        "    left = number\n"
        "    erase([here / 'log/d'])\n"
        "    if left >= 0: break\n"
        "    left = 1000\n"
        "    assert (here / 'etc/file').read_text() == 'precious', number\n"
        "assert 4 < number < 19, number\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_folders_nested_too_deeply_are_reported_and_the_rest_is_erased(tmp_path: Path) -> None:
    (tmp_path / "0").mkdir()
    for number in range(1, 100):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number - 1)).rename(tmp_path / str(number) / "d")
    (tmp_path / "99/file").touch()
    (left,) = secure_erase.erase([tmp_path / "99"])
    assert len(left.path.relative_to(tmp_path / "99").parts) == 64
    assert left.why == "File name too long"
    assert [path.name for path in (tmp_path / "99").iterdir()] == ["d"]


def test_a_replaced_file_leaves_no_content_on_the_raw_card(tmp_path: Path) -> None:
    with card(tmp_path) as sd:
        file = sd.at / "timers.json"
        secure_erase.replace(file, CANARY * 100, 0o600)
        assert sd.count(CANARY) == 100
        for number in range(5):
            secure_erase.replace(file, CANARY * 200 + str(number).encode(), 0o600)
        assert sd.count(CANARY) == 200, "only the current version"
        secure_erase.replace(file, b"{}", 0o600)
        assert sd.count(CANARY) == 0
