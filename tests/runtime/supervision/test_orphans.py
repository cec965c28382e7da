"""When the supervisor is killed, all processes that it started end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.runtime.supervision.parent_death import ORPHANED
from tests.runtime.supervision.box import GONE_S, ROOT, Box, load_of, survivors

pytestmark = pytest.mark.process

MOMENTS = 6
LATEST_S = 1.5  # latest kill after the start; by then all parts are up
SPEAKER = """
import time
from appliance.voice.espeak import EspeakVoice

def main(work):
    speech = EspeakVoice(150).synthesise("A long sentence without an end. " * 200)  # never read
    work.report_ready()
    while not work.stopping:
        work.beat()
        time.sleep(0.1)
"""
ONE_PART = """
from appliance.runtime import process_table
from appliance import settings
from appliance.runtime.supervisor import Supervisor
row = process_table.Process(
    "speaker", "speaker", (), "normal", 0, 0, False, 15.0, 15.0, True, 1.0, 500, "doubles")
Supervisor(settings.load_defaults(), rows=(row,)).run()
"""


def test_a_supervisor_killed_at_any_moment_of_its_start_leaves_no_process(tmp_path: Path) -> None:
    dice = random.Random(4)
    with load_of(4):
        for number in range(MOMENTS):
            after_s = dice.uniform(0.05, LATEST_S)
            assert survivors(tmp_path / str(number), after_s) == [], f"{after_s:.3f} s"


def test_a_running_synthesiser_ends_with_the_supervisor(tmp_path: Path) -> None:
    (tmp_path / "doubles").mkdir()
    (tmp_path / "doubles/__init__.py").touch()
    (tmp_path / "doubles/speaker.py").write_text(SPEAKER)
    box = Box(tmp_path / "box", [sys.executable, "-c", ONE_PART], PYTHONPATH=f"{tmp_path}:{ROOT}")
    try:
        assert box.until(lambda left: any("espeak-ng" in line for line in left), 60.0)
        box.kill()
        assert box.until(lambda left: not left, GONE_S), box.left()
    finally:
        box.clear()


def test_an_orphaned_launcher_ends_before_it_imports_large_modules() -> None:
    words = ["-X", "importtime", "-m", "appliance.runtime.supervision.launch"]
    done = subprocess.run(
        [sys.executable, *words, "1", "3"], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == ORPHANED
    assert "appliance.runtime.supervision" in done.stderr
    for large in ("numpy", "msgspec", "appliance.runtime.worker", "appliance.settings"):
        assert large not in done.stderr


# Not SIGHUP: under nohup(1), all processes started by the tests ignore it.
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGUSR1, 40])
def test_the_parts_end_with_the_supervisor_for_any_signal(tmp_path: Path, how: int) -> None:
    box = Box(tmp_path / "box")
    try:
        assert box.until(lambda left: len(left) >= 8, 60.0)
        os.kill(box.process.pid, how)
        box.process.wait(30)
        assert box.until(lambda left: not left, GONE_S), box.left()
    finally:
        box.clear()
