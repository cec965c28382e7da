"""Libraries of other people keep to themselves what they know of this box."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips

PROGRAM = """
import sys
{first}
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
"""
MODEL = Path(__file__).parents[1] / "appliance/models/verdict.onnx"


def left_behind(home: Path, first: str) -> list[Path]:
    """What loading a network writes below `home`: the number by which its makers know a machine."""
    free = {name: word for name, word in os.environ.items()
            if not name.startswith(("ORT_", "XDG_"))}  # fmt: skip
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(first=first), MODEL],
        env={**free, "HOME": str(home)}, check=True, timeout=120,
    )  # fmt: skip
    return [path for path in home.rglob("*") if path.is_file()]


def test_onnxruntime_gives_a_box_no_number_and_tells_nobody_of_it(tmp_path: Path) -> None:
    assert left_behind(tmp_path, "import appliance") == []


def test_left_alone_it_would(tmp_path: Path) -> None:
    if not left_behind(tmp_path, ""):
        pytest.skip(skips.NUMBERED)
