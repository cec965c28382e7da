"""What is to be built, and where its steps keep what they made. Each step is handed the plan."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from appliance.errors import InterludeError
from image.kernels import Flavour

ROOT = Path(__file__).resolve().parent.parent
SUITE = "trixie"
DEBIAN = "arm64"  # Debian's name of the architecture
MACHINE = "aarch64"  # the kernel's, and Python's
TRIPLET = "aarch64-linux-gnu"
PYTHON = "3.13"  # Debian 13's
LIBC = 41  # its glibc: 2.41


class NotBuilt(InterludeError):
    """A step of the image that could not be done."""


@dataclass(frozen=True)
class Plan:
    """In. `work` is gone with `make clean`; `cache` outlives it, and clones share it.

    time_s  of every file in the image, since 1970: that of the commit, or SOURCE_DATE_EPOCH
    key     the private ssh key that signs the release and the image
    """

    version: str
    flavour: Flavour
    key: Path
    work: Path
    cache: Path
    into: Path
    time_s: int

    @property
    def logs(self) -> Path:
        return self.work / "logs"

    @property
    def name(self) -> str:
        return f"interlude-{self.version}-rpi5"


def cache_folder() -> Path:
    """The owner's, for what takes long to make."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "interlude/image"


def commit_time_s() -> int:
    """SOURCE_DATE_EPOCH, or when the commit was made. Raises NotBuilt."""
    if told := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(told)
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotBuilt(
            "The time of the image is not known.", "Build it in a clone, or set SOURCE_DATE_EPOCH."
        )
    return int(done.stdout)


def once(
    shelf: Path, name: str, inputs: Iterable[str | bytes], make: Callable[[Path], None]
) -> Path:
    """What `make` writes to the path it is given, or what it wrote before from the same `inputs`.

    Whole or not there: it is made under another name. An older one of that name goes.
    """
    digest = sha256()
    for each in inputs:
        data = each.encode() if isinstance(each, str) else each
        digest.update(b"%d:" % len(data) + data)
    path = shelf / f"{name}-{digest.hexdigest()[:12]}"
    if path.exists():
        return path
    shelf.mkdir(parents=True, exist_ok=True)
    part = shelf / f".{name}.part"
    remove(part)
    make(part)
    for old in shelf.glob(f"{name}-*"):
        remove(old)
    part.rename(path)
    return path


def remove(path: Path) -> None:
    """A file, a tree, or nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def lines(path: Path) -> list[str]:
    """A list's lines, without its remarks."""
    found = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in found if line]
