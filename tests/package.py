"""The package, copied elsewhere: without the lab, or where every user can read it."""

from __future__ import annotations

import shutil
from pathlib import Path

import appliance


def copy_package(into: Path) -> None:
    """`into`/appliance, without the models: what starts nothing has no use for them."""
    unread = shutil.ignore_patterns("__pycache__", "*.gguf", "*.onnx", "*.npz")
    shutil.copytree(Path(appliance.__file__).parent, into / "appliance", ignore=unread)
