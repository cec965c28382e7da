"""Builds the Python environment in .venv: locked dependencies, llama.cpp, the package itself.

`environment.py [ROLE...]`: the roles of scripts/tools.txt. Demo, bench and the box itself get the
packages of requirements-room.lock; for every other role those of requirements-dev.lock, which has
the same and more. In: the lock files and pyproject.toml. Out: .venv, and a stamp file in .make/ for
each step that is done, so that a later run skips it, and an interrupted set-up continues where it
was. Uses the standard library only, since it runs before any package is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import llama, llama_source
from scripts.progress import Failed, follow, took

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMPS = ROOT / ".make"
WITHOUT_DEVELOPMENT = frozenset({"setup", "bench"})  # of the extras `dev` and `docs`


@dataclass(frozen=True)
class Step:
    """One step of the set-up. `inputs`: a digest of all that it depends on; the step is repeated
    when it changes."""

    name: str
    announcement: str
    inputs: str
    stamps: Path = STAMPS

    @property
    def stamp(self) -> Path:
        return self.stamps / f"{self.name}.done"

    def is_done(self) -> bool:
        return self.stamp.is_file() and self.stamp.read_text() == self.inputs


def digest(*parts: str | Path) -> str:
    """A SHA-256 of strings and of the contents of files."""
    sha256 = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        sha256.update(len(data).to_bytes(8, "little") + data)
    return sha256.hexdigest()


@contextlib.contextmanager
def doing(step: Step) -> Iterator[None]:
    """Context manager around a step: removes its stamp first, and writes it only after success."""
    step.stamp.unlink(missing_ok=True)
    print(f"── {step.announcement}", flush=True)
    start = time.monotonic()
    yield
    step.stamp.write_text(step.inputs)
    print(f"   done in {took(time.monotonic() - start)}", flush=True)


def make_venv(step: Step) -> None:
    with doing(step):
        shutil.rmtree(VENV, ignore_errors=True)
        follow([sys.executable, "-m", "venv", str(VENV)], STAMPS / "venv.log")


def install_dependencies(step: Step, lock: Path) -> None:
    total = sum(1 for line in lock.read_text().splitlines() if line[:1].isalnum())
    collected = 0

    def progress(line: str) -> str | None:
        nonlocal collected
        if line.startswith("Collecting "):
            collected += 1
            return f"[{min(collected, total)}/{total}] {line.split()[1].partition('==')[0]}"
        return "unpacking" if line.startswith("Installing collected") else None

    with doing(step):
        follow(
            [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
             "--require-hashes", "-r", str(lock)],
            STAMPS / "dependencies.log",
            progress,
        )  # fmt: skip


def install_llama(step: Step) -> None:
    with doing(step):
        wheel = llama.wheel(PYTHON, ROOT / "requirements-llama.lock", STAMPS)
        follow(
            [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
             "--no-index", "--force-reinstall", str(wheel)],
            STAMPS / "llama-install.log",
        )  # fmt: skip


def install_project(step: Step) -> None:
    """Install the package itself in editable mode, then check that all requirements are met."""
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    with doing(step):
        follow(
            [*pip, "install", "--no-deps", "--no-build-isolation", "--no-index", "-e", str(ROOT)],
            STAMPS / "project.log",
        )
        follow([*pip, "check"], STAMPS / "project-check.log")


def build_simcard() -> None:
    """Build the software sound card, if its Makefile says that it is out of date."""
    folder = ROOT / "hw" / "simcard"
    if not (folder / "Makefile").is_file():
        return
    up_to_date = subprocess.run(["make", "-s", "-q"], cwd=folder, capture_output=True, check=False)
    if up_to_date.returncode:
        print("── software sound card", flush=True)
        follow(["make", "-s"], STAMPS / "simcard.log", cwd=folder)


def dependency_steps(venv: Step, roles: Iterable[str], folder: Path = ROOT) -> dict[Step, Path]:
    """The steps that install what `roles` need, each with its lock; one that is done suffices. The
    last one installs the least. `venv`: the step before; `folder`: of the locks."""
    locks = ["requirements-dev.lock"]
    if WITHOUT_DEVELOPMENT.issuperset(roles):
        locks.append("requirements-room.lock")
    return {
        Step(Path(lock).stem, f"dependencies, from {lock}",
             digest(venv.inputs, folder / lock), venv.stamps): folder / lock
        for lock in locks
    }  # fmt: skip


def set_up(roles: Iterable[str]) -> None:
    """Run every step that `roles` need and that is not done yet, in order. A new environment
    repeats all of them."""
    # A moved checkout needs a new environment: the old one's scripts contain its absolute path.
    python = f"{sys.version} {platform.machine()} {ROOT}"
    venv = Step("venv", "Python environment (.venv)", digest(python))
    dependencies = dependency_steps(venv, roles)
    llama_step = Step(
        "llama",
        "llama.cpp, the model's runtime",
        digest(
            venv.inputs,
            ROOT / "requirements-llama.lock",
            *llama.build_flags(),
            llama_source.digest(),
        ),
    )
    project = Step("project", "Interlude itself", digest(venv.inputs, ROOT / "pyproject.toml"))
    if not PYTHON.exists():
        venv.stamp.unlink(missing_ok=True)
    if not venv.is_done():
        print("Setting up. The first time takes 2 to 6 minutes, most of it llama.cpp's build.")
        make_venv(venv)
        for stamp in STAMPS.glob("*.done"):
            if stamp != venv.stamp:
                stamp.unlink()
    if not any(step.is_done() for step in dependencies):
        least = next(reversed(dependencies))
        install_dependencies(least, dependencies[least])
    if not llama_step.is_done():
        install_llama(llama_step)
    if not project.is_done():
        install_project(project)
    build_simcard()


def main() -> int:
    STAMPS.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # same clean-up as for Ctrl-C
    with (STAMPS / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up of this clone is under way; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            set_up(sys.argv[1:])
        except Failed as failure:
            print(f"\nSet-up failed: {failure}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nInterrupted. Run the same again to go on from here.", file=sys.stderr)
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
