"""Tiny releases for tests: the real commands, and in place of the box a small program (ACTS)."""

from __future__ import annotations

import shutil
import sysconfig
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from appliance.update.archive_parts import sign_archive
from appliance.update.release.pack import pack
from image.freight import fitting

ROOT = Path(__file__).resolve().parents[2]
# What `interlude release` and `interlude config` import, with their sentences; from h11 on: what
# `interlude system begin`, which runs at every start of a card, and set-up's page import.
NEEDED = ("msgspec", "yaml", "fluent", "typing_extensions", "h11", "jinja2", "markupsafe")
COMMAND = """#!/bin/sh
here=$(dirname "$(dirname "$(readlink -f "$0")")")
export PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1
case "$1 ${2-}" in
  "run ") exec python3 "$here/lib/acts.py" ;;
  # It needs numpy, which these releases leave out; they have no models.
  "system accept") touch /var/lib/interlude-models/.accepted ;;
  "release selftest")
    [ "$(cat "$here/kind")" != unfit ] || { echo "no module named soxr" >&2; exit 1; } ;;
  *) exec python3 -m appliance "$@" ;;
esac
"""
ACTS = '''"""Acts as a box would: says READY, feeds the watchdog, tells how it is."""
import json, os, pathlib, socket, sys, time

here = pathlib.Path(__file__).resolve().parents[1]
version, kind = here.name, (here / "kind").read_text()
system = pathlib.Path("/usr/lib/interlude/kind")  # a system on which no release does well: pis.py
kind = (system.read_text() if system.exists() else "") or kind
folder = pathlib.Path(os.environ["RUNTIME_DIRECTORY"])


def notify(words):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
        place = os.environ["NOTIFY_SOCKET"]
        wire.connect("\\0" + place[1:] if place[0] == "@" else place)
        wire.send(words.encode())


if kind == "crashes":
    time.sleep(0.3)
    sys.exit(3)
if kind == "hangs":
    time.sleep(3600)
while True:
    talks = pathlib.Path("/var/lib/interlude/talks").exists()
    status = {"version": version, "pid": os.getpid(), "state": "speaking" if talks else "idle",
              "ready": True, "healthy": True, "failed": ["speaker"] if kind == "failing" else []}
    fresh = folder / "status.new"
    fresh.write_text(json.dumps(status))
    fresh.chmod(0o644)
    fresh.rename(folder / "status.json")
    line = f"{version} {status['state']}, ready, healthy"
    line += "; failed: speaker" if kind == "failing" else ""
    notify(f"STATUS={line}\\nREADY=1\\nWATCHDOG=1")
    time.sleep(0.2)
'''


def make(
    into: Path,
    key: Path | None,
    version: str,
    kind: str = "good",
    *,
    machine: str,
    python: str,
    packages: Path | None = None,
    more: Mapping[str, bytes] | None = None,
    needed: tuple[str, ...] = NEEDED,
) -> Path:
    """Make a release of that version. Kinds: good, failing, crashes, hangs, unfit.

    key       signs it; None leaves it as a build does
    packages  folder with the needed packages, if not this Python's
    more      files that are added or replaced; below bin they are executable
    needed    names of the packages to copy
    """
    tree = plant(into / f"tree-{version}", kind, packages, needed)
    for name, data in (more or {}).items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_bytes(data)
    archive = pack(
        tree, into, version=version, machine=machine, python=python, made_s=int(time.time())
    )
    if key is not None:
        sign_archive(archive, key)
    return archive


def plant(
    tree: Path, kind: str, packages: Path | None = None, needed: tuple[str, ...] = NEEDED
) -> Path:
    """Write the files of such a release to the folder `tree`."""
    shutil.rmtree(tree, ignore_errors=True)
    library = tree / "lib"
    (tree / "bin").mkdir(parents=True)
    command = tree / "bin/interlude"
    command.write_text(COMMAND)
    command.chmod(0o755)
    (tree / "kind").write_text(kind)
    without = shutil.ignore_patterns("__pycache__", "*.gguf", "*.onnx")
    shutil.copytree(ROOT / "appliance", library / "appliance", ignore=without)
    packages = packages or Path(sysconfig.get_paths()["platlib"])
    for name in needed:
        if (packages / name).is_dir():
            shutil.copytree(packages / name, library / name, ignore=without)
        else:
            shutil.copy(packages / f"{name}.py", library)
        for about in packages.glob(f"{name}-*.dist-info"):  # some packages read their own version
            shutil.copytree(about, library / about.name)
    (library / "acts.py").write_text(ACTS)
    return tree


def locked(names: Iterable[str], lock: str) -> str:
    """The rows of a lock, for the Pi's Python, of the packages with these import names."""
    by_import = packages_distributions()
    wanted = {canonicalize_name(each) for name in names for each in by_import[name]}
    rows = fitting((ROOT / lock).read_text()).splitlines()
    return "\n".join(row for row in rows if row.split("==")[0] in wanted)
