"""Says what is built and where the steps of the build put their results. Each step gets a Plan."""

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
    """A step of the image's build failed."""


@dataclass(frozen=True)
class Plan:
    """The inputs of a build. `make clean` removes `work`; `cache` remains, and clones share it.

    time_s  time of every file in the image, since 1970: the commit's, or SOURCE_DATE_EPOCH
    signers the text of allowed_signers on the box: the public keys whose releases it installs
    """

    version: str
    flavour: Flavour
    signers: str
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
    """The user's cache folder, for results that take long to make."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "interlude/image"


def commit_time_s() -> int:
    """SOURCE_DATE_EPOCH if it is set, else the time of the commit. Raises NotBuilt."""
    if epoch_s := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch_s)
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotBuilt(
            "The time of the image is not known.", "Build it in a clone, or set SOURCE_DATE_EPOCH."
        )
    return int(done.stdout)


def once(
    folder: Path, name: str, inputs: Iterable[str | bytes], make: Callable[[Path], None]
) -> Path:
    """Return the result of `make` for these `inputs`, from the cache `folder` or made now.

    `make` writes to a temporary path, which is renamed when it has returned. An older result of
    that name is removed.
    """
    digest = sha256()
    for item in inputs:
        data = item.encode() if isinstance(item, str) else item
        digest.update(b"%d:" % len(data) + data)
    path = folder / f"{name}-{digest.hexdigest()[:12]}"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{name}.part"
    remove(temporary)
    make(temporary)
    for old in folder.glob(f"{name}-*"):
        remove(old)
    temporary.rename(path)
    return path


def remove(path: Path) -> None:
    """Remove a file or a folder with its content; nothing happens if it does not exist."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def lines(path: Path) -> list[str]:
    """The lines of a list, without comments and empty lines."""
    found = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in found if line]
