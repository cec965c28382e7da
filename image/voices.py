"""Builds the program of Piper's voices for the Pi on this machine. Out: a bundle that is not
signed yet.

It is not part of the release but a program of its own, GPL-3.0-or-later (docs/voices.md).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from appliance.errors import ReleaseRefused
from appliance.voice.engine.pack import pack
from appliance.voice.protocol import PROTOCOL
from image import freight, inside
from image.plan import MACHINE, PYTHON, NotBuilt, Plan, once, remove
from image.tools import quietly
from scripts import voices


def make(plan: Plan, root: Path) -> Path:
    """Make the bundle, or return the cached one. Raises NotBuilt.

    `root`: a root file system with the Pi's Python.
    """
    requirements = freight.fitting(voices.requirements(voices.LOCK.read_text()))
    sources = [Path(voices.__file__), *sorted(voices.SOURCE.iterdir())]
    inputs: list[str | bytes] = [
        plan.version, str(plan.time_s), requirements,
        *(path.read_bytes() for path in sources if path.is_file()),
    ]  # fmt: skip

    def install(listed: Path, library: Path) -> None:
        quietly("The voices' program cannot be installed", "A package without a wheel for the Pi?",
                plan.logs / "voices.log",
                *freight.PIP, "--require-hashes", "--target", library, "-r", listed)  # fmt: skip

    def write(path: Path) -> None:
        tree = plan.work / "voices-tree"
        remove(tree)
        path.mkdir()
        voices.plant(tree, requirements, install)
        words = ["python3", *voices.compiling(plan.version, Path("/mnt"))]
        with (plan.logs / "voices-compile.log").open("wb") as log:
            subprocess.run(inside.command(root, words, {tree: "/mnt"}), stdout=log, stderr=log,
                           check=False)  # fmt: skip
        try:
            pack(tree, path, engine="piper", version=plan.version, protocol=PROTOCOL,
                 licence=voices.LICENCE, machine=MACHINE, python=PYTHON,
                 made_s=plan.time_s)  # fmt: skip
        except ReleaseRefused as error:
            raise NotBuilt(f"The voices' program cannot be made: {error}") from error
        remove(tree)

    return next(once(plan.work, "voices", inputs, write).glob("*.voice"))
