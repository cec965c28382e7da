"""Runs external tools: their output goes to a log, and its last line into the error."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from image.plan import NotBuilt, Plan
from scripts.progress import Failed, follow
from scripts.tools import commands

SPACE_GIB = 6.0  # disk space that a build needs at most


def check(plan: Plan) -> None:
    """Check that this machine can build: root, tools, disk space. Raises NotBuilt."""
    if os.geteuid() != 0:
        raise NotBuilt("Making a root file system needs root.", "Run `sudo make image`.")
    packages = commands("image")
    missing = sorted({package for tool, package in packages.items() if shutil.which(tool) is None})
    if missing:
        raise NotBuilt("Tools are missing.", f"apt-get install {' '.join(missing)}")
    free_gib = shutil.disk_usage(plan.work).free / 2**30
    if free_gib < SPACE_GIB:
        raise NotBuilt(
            f"{SPACE_GIB:g} GiB are needed; {free_gib:.1f} are free.", "Free some disk space."
        )


def quietly(
    what: str,
    remedy: str,
    log: Path,
    *command: str | Path,
    environment: Mapping[str, str] | None = None,
    progress: Callable[[str], str | None] = lambda _: None,
) -> None:
    """Run a command and show its progress in one line. Raises NotBuilt with `what` and `remedy`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in command]
    try:
        follow(words, log, progress, environment={**os.environ, **(environment or {})})
    except Failed as error:
        raise NotBuilt(f"{what}: {error}", remedy) from error


def ask(what: str, *command: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a tool and return its output. Raises NotBuilt with the last line of it."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if done.returncode:
        output = (done.stderr or done.stdout).strip().splitlines()
        raise NotBuilt(f"{what}: {output[-1] if output else f'exit code {done.returncode}'}")
    return done.stdout
