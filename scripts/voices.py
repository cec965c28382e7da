"""`make voices`: packs the program of Piper's voices as one file for boxes like this one.

In: the lock, voices/piper, and, optionally, voices of the catalogue. Out:
dist/piper-<version>-<machine>.voice. `make sign` signs it. image/voices.py makes the one for the
card.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from appliance import __version__
from appliance.errors import InterludeError
from appliance.models import catalogue
from appliance.models.fetcher import ModelFetcher
from appliance.models.hub import ModelHub
from appliance.models.store import ModelStore
from appliance.voice.engine.pack import pack
from appliance.voice.protocol import PROTOCOL
from scripts.progress import Failed, follow
from scripts.release import PIP, made_s

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "voices/piper"
LOCK = ROOT / "requirements-dev.lock"
# piper-tts and its dependencies, without those of Interlude.
NEEDS = (
    "flatbuffers",
    "numpy",
    "onnxruntime",
    "packaging",
    "pathvalidate",
    "piper-tts",
    "protobuf",
)
LICENCE = "GPL-3.0-or-later"
COMMAND = """#!/bin/sh
# Runs the voice's program with its own packages only.
here=$(dirname "$(dirname "$(readlink -f "$0")")")
exec /usr/bin/python3 -I -B "$here/program.py" "$@"
"""
# Not needed for synthesis: training, a server, and scripts of the packages.
LEFT_OUT = ("bin", "piper/train", "piper/templates", "piper/img")

Install = Callable[[Path, Path], None]  # a list of requirements, and the folder they go to


def requirements(lock: str, names: Sequence[str] = NEEDS) -> str:
    """The rows of a lock that pin `names`, with their hashes and markers."""
    rows = re.findall(r"^[a-z0-9-]+==[^\n\\]*(?:\\\n[^\n\\]*)*$", lock, re.MULTILINE)
    pinned = [row for row in rows if row.split("==")[0] in names]
    missing = set(names) - {row.split("==")[0] for row in pinned}
    if missing:
        raise Failed(f"{LOCK.name} does not pin {', '.join(sorted(missing))}. Run `make lock`.")
    return "\n".join(pinned) + "\n"


def plant(tree: Path, wanted: str, install: Install) -> None:
    """Install the program and its packages below `tree`. Raises Failed."""
    library = tree / "lib"
    (tree / "bin").mkdir(parents=True)
    command = tree / "bin/voice"
    command.write_text(COMMAND)
    command.chmod(0o755)
    shutil.copy(SOURCE / "program.py", tree / "program.py")
    shutil.copy(SOURCE / "SOURCES.md", tree / "SOURCES.md")
    shutil.copy(ROOT / "LICENSE", tree / "LICENSE.program")
    listed = tree / "REQUIREMENTS.txt"
    listed.write_text(wanted)
    install(listed, library)
    for name in LEFT_OUT:
        shutil.rmtree(library / name, ignore_errors=True)
    for record in library.glob("*.dist-info"):
        for name in ("RECORD", "direct_url.json", "INSTALLER", "REQUESTED"):
            (record / name).unlink(missing_ok=True)  # they differ between machines
    shutil.copy(_gpl(library), tree / "LICENSE")


def compiling(version: str, tree: Path) -> list[str]:
    """Python's arguments for compiling the files in `tree`. The bytecode is keyed by hash, not by
    mtime, which makes the archive reproducible. Files with syntax of another Python version stay
    uncompiled."""
    installed_path = f"/opt/interlude/voices/piper-{version}"
    return ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", str(tree),
            "-p", installed_path, str(tree / "lib"), str(tree / "program.py")]  # fmt: skip


def _gpl(library: Path) -> Path:
    """The file with piper-tts' licence in its wheel. Raises Failed."""
    texts = sorted(library.glob("piper_tts-*.dist-info/**/COPYING"))
    if not texts:
        raise Failed("piper-tts comes without the text of its licence.")
    return texts[0]


def add_voices(tree: Path, names: Sequence[str], store: ModelStore, hub: ModelHub) -> None:
    """Fetch and verify voices of the catalogue, and copy them to `tree`. Raises InterludeError."""
    for name in names:
        model = catalogue.find(name, store.models)
        if model.kind != "voice":
            raise Failed(f"{name} is no voice.")
        if store.state(model) != "installed":
            ModelFetcher(store, hub, _Quiet()).fetch(model)
        folder = tree / "voices" / name
        folder.mkdir(parents=True)
        for file in model.files.values():
            shutil.copy(store.path(model, file), folder / file.name)
        about = f"{model.about}\nLicence: {model.licence} ({model.licence_url})\n{model.note}\n"
        (folder / "LICENCE.txt").write_text(about)


class _Quiet:
    def start(self, name: str, done: int, total: int) -> None:
        print(f"   {name}: {done >> 20} of {total >> 20} MiB are here", flush=True)

    def advance(self, name: str, done: int) -> None:
        """Prints nothing: a download takes only a minute."""

    def report_problem(self, name: str, problem: str, wait_s: float) -> None:
        print(f"   {name}: {problem}; again in {wait_s:g} s", flush=True)


def here(logs: Path) -> Install:
    """Returns a function that installs packages for this machine and this Python."""

    def install(listed: Path, library: Path) -> None:
        follow([*PIP, "--only-binary=:all:", "--require-hashes", "--target", str(library),
                "-r", str(listed)], logs / "voices.log")  # fmt: skip

    return install


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the program of Piper's voices.")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="a folder (dist)")
    parser.add_argument("--voice", action="append", default=[], metavar="NAME",
                        help="of the catalogue, to lie in it (may be repeated)")  # fmt: skip
    parser.add_argument("--models", type=Path, default=ROOT / "build/voices/models",
                        metavar="DIR", help="where fetched voices are kept")  # fmt: skip
    args = parser.parse_args()
    args.into.mkdir(parents=True, exist_ok=True)
    logs = ROOT / ".make"
    logs.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="interlude-voices-", dir=args.into) as scratch:
            tree = Path(scratch) / "tree"
            plant(tree, requirements(LOCK.read_text()), here(logs))
            subprocess.run([sys.executable, *compiling(__version__, tree)], check=False)
            store = ModelStore(args.models, catalogue.load())
            add_voices(tree, args.voice, store, ModelHub())
            path = pack(
                tree, args.into, engine="piper", version=__version__, protocol=PROTOCOL,
                licence=LICENCE, voices=tuple(args.voice), machine=platform.machine(),
                python=f"{sys.version_info.major}.{sys.version_info.minor}", made_s=made_s(),
            )  # fmt: skip
    except (Failed, InterludeError, subprocess.CalledProcessError) as error:
        print(f"No program: {error}", file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
