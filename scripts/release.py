"""`make release`: packs Interlude with all dependencies as one file for boxes like this one.

In: the locks, the wheel of llama.cpp, the working tree. Out:
dist/interlude-<version>-<machine>.release, which fits this architecture and this version of Python
only: build it on a Pi, or in a Pi's root file system. `make sign` signs it. Needs the environment
that `make setup` makes.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from appliance import __version__
from appliance.errors import ReleaseRefused
from appliance.update.release import policy
from appliance.update.release.pack import pack
from scripts import licences, llama
from scripts.progress import Failed, follow

ROOT = Path(__file__).resolve().parent.parent
COMMAND = """#!/bin/sh
# Runs this release, in whichever folder it is, with its own packages only.
here=$(dirname "$(dirname "$(readlink -f "$0")")")
export PYTHONPATH="$here/lib" PYTHONNOUSERSITE=1 PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1
exec "${INTERLUDE_PYTHON:-/usr/bin/python3}" -m appliance "$@"
"""
BESIDE = ("README.md", "CHANGELOG.md", "LICENSE", "LICENSES.md")
PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
       "--no-compile", "--quiet")  # fmt: skip


def plant(tree: Path, logs: Path) -> None:
    """Install Interlude and its dependencies below `tree`. Raises Failed."""
    library = tree / "lib"
    (tree / "bin").mkdir(parents=True)
    command = tree / "bin/interlude"
    command.write_text(COMMAND)
    command.chmod(0o755)
    print("── dependencies, from requirements.lock", flush=True)
    target = ("--target", str(library))
    follow([*PIP, "--require-hashes", *target, "-r", str(ROOT / "requirements.lock")],
           logs / "release-dependencies.log")  # fmt: skip
    wheel = llama.wheel(Path(sys.executable), ROOT / "requirements-llama.lock", logs)
    print("── llama.cpp and Interlude itself", flush=True)
    follow([*PIP, "--no-index", *target, str(wheel)], logs / "release-llama.log")
    follow([*PIP, "--no-index", "--no-build-isolation", *target, str(ROOT)],
           logs / "release-project.log")  # fmt: skip
    if forbidden := licences.copyleft(library):
        raise Failed(" ".join(forbidden))
    shutil.rmtree(library / "bin", ignore_errors=True)  # scripts that contain this machine's paths
    lay_beside(tree)
    # Compiled here, since the box may not write there. The bytecode is keyed by hash, not by mtime,
    # which makes the archive reproducible.
    subprocess.run(
        [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
         "-s", str(tree), "-p", f"/opt/interlude/releases/{__version__}", str(library)],
        check=False,  # files with syntax of another Python version stay uncompiled
    )  # fmt: skip


def lay_beside(tree: Path) -> None:
    """Copy to a release what lies beside its package: texts, and the policy (docs/fleet.md)."""
    for name in BESIDE:
        shutil.copy(ROOT / name, tree / name)
    shutil.copytree(ROOT / policy.FOLDER, tree / policy.FOLDER)


def made_s() -> int:
    """Time of the last commit, in seconds since 1970: the same tree gives the same archive."""
    result = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(result.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description="Make a release for boxes like this one.")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="a folder (dist)")
    parser.add_argument("--tree", type=Path, help="pack this tree instead of building one")
    args = parser.parse_args()
    args.into.mkdir(parents=True, exist_ok=True)
    logs = ROOT / ".make"
    logs.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="interlude-release-", dir=args.into) as scratch:
            tree = args.tree or Path(scratch) / "tree"
            if args.tree is None:
                plant(tree, logs)
            path = pack(
                tree, args.into, version=__version__, machine=platform.machine(),
                python=f"{sys.version_info.major}.{sys.version_info.minor}", made_s=made_s(),
            )  # fmt: skip
    except (Failed, ReleaseRefused) as error:
        print(f"No release: {error}", file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
