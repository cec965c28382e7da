"""The role `kernel` adds one argument to the kernel command line of Raspberry Pi OS, once."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from image.test.fleet import ROOT

PI = "console=serial0,115200 console=tty1 root=PARTUUID=1-02 rootfstype=ext4 rootwait"
WORD = "cgroup_enable=memory"


def play(folder: Path, **variables: object) -> dict[str, int]:
    """Run the role on this machine and return the numbers of tasks: ok, changed, failed."""
    book = folder / "book.yml"
    book.write_text(json.dumps([{"hosts": "localhost", "connection": "local",
                                 "gather_facts": False, "roles": ["kernel"]}]))  # fmt: skip
    words = json.dumps({"kernel_command_line": str(folder / "cmdline.txt"), **variables})
    done = subprocess.run(
        ["ansible-playbook", "-i", "localhost,", "-e", words, book],
        cwd=ROOT / "ansible", capture_output=True, text=True, check=False, timeout=120,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    said = dict(re.findall(r"(ok|changed|failed)=(\d+)", done.stdout))
    assert done.returncode == 0, done.stdout + done.stderr
    return {key: int(count) for key, count in said.items()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{PI}\n", f"{PI} {WORD}\n"),
        (f"{PI} x{WORD} {WORD}2\n", f"{PI} x{WORD} {WORD}2 {WORD}\n"),
        (f"{PI} {WORD} quiet\n", f"{PI} {WORD} quiet\n"),
    ],
    ids=["as it comes", "other words like it", "has it"],
)
def test_the_word_is_added_once_and_the_second_time_nothing_changes(
    tmp_path: Path, before: str, after: str
) -> None:
    file = tmp_path / "cmdline.txt"
    file.write_text(before)
    assert play(tmp_path)["changed"] == int(before != after)
    assert file.read_text() == after
    assert play(tmp_path)["changed"] == 0
    assert file.read_text() == after


def test_a_machine_without_that_file_is_left_alone(tmp_path: Path) -> None:
    assert play(tmp_path)["changed"] == 0
    assert not (tmp_path / "cmdline.txt").exists()


def test_a_card_of_ours_that_is_being_built_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "cmdline.txt").write_text(PI)
    assert play(tmp_path, interlude_image_build=True)["changed"] == 0
    assert (tmp_path / "cmdline.txt").read_text() == PI
