"""Copies the package, for tests without the lab or in a folder that every user can read."""

from __future__ import annotations

import shutil
from pathlib import Path

import appliance


def copy_package(into: Path) -> None:
    """Copy the package to `into`/appliance, without the models, which these tests do not load."""
    unread = shutil.ignore_patterns("__pycache__", "*.gguf", "*.onnx", "*.npz")
    shutil.copytree(Path(appliance.__file__).parent, into / "appliance", ignore=unread)
