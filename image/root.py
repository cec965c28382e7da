"""Makes the root file system: Debian 13 for the Pi from two lists of packages. Out: a tar file.

It is cached by the content of the lists. `--fresh` makes it again with the archive's newest
packages.

mmdebstrap mounts this machine's /dev/shm and others into the new root, and leaves them mounted when
it is interrupted. It therefore runs in a mount namespace of its own, so that removing the folder
afterwards removes no file of this machine. Each run has its own temporary folder.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from image import archives
from image.plan import DEBIAN, ROOT, SUITE, Plan, lines, once
from image.tools import ask, quietly

LISTS = (ROOT / "image/base.txt", ROOT / "image/packages.txt")
_NOT_WANTED = (  # not needed on the box; copyright files stay
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/doc/*",
)
_WANTED = ("/usr/share/doc/*/copyright",)
ALONE = ("unshare", "--mount", "--propagation", "private")
_SPACE = 3 << 30  # bytes of memory that mmdebstrap needs at most


def make(plan: Plan) -> Path:
    """Make the tar file, or return the cached one. Raises NotBuilt."""
    packages = sorted({package for file in LISTS for package in lines(file)})
    inputs = [SUITE, DEBIAN, *_NOT_WANTED, *_WANTED, *packages]

    def write(path: Path) -> None:
        # dpkg calls fsync after each file, which costs nothing in memory.
        memory = Path("/dev/shm")  # noqa: S108  # a folder of our own is made in it
        in_memory = memory.is_dir() and shutil.disk_usage(memory).free > _SPACE
        parent = memory if in_memory else plan.work
        scratch = Path(tempfile.mkdtemp(prefix="interlude-image-", dir=parent))
        scratch.chmod(0o755)  # apt drops root privileges in it
        excludes = [f"--dpkgopt=path-exclude={name}" for name in _NOT_WANTED]
        includes = [f"--dpkgopt=path-include={name}" for name in _WANTED]
        try:
            quietly(
                "Debian cannot be installed", "INTERLUDE_DEBIAN=… names another archive.",
                plan.logs / "mmdebstrap.log",
                *ALONE, "mmdebstrap", f"--architectures={DEBIAN}", "--variant=minbase",
                "--format=tar",
                "--skip=check/qemu",
                f"--include={','.join(packages)}", *excludes, *includes, SUITE, path,
                *archives.sources(),
                environment={"TMPDIR": str(scratch), "SOURCE_DATE_EPOCH": str(plan.time_s)},
                progress=_progress,
            )  # fmt: skip
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    return once(plan.cache, "root", inputs, write)


def unpack(tar: Path, into: Path) -> None:
    """Unpack with owners and capabilities, but without device files. Needs root."""
    into.mkdir(parents=True)
    ask("The root file system cannot be unpacked", "tar", "--numeric-owner", "--xattrs",
        "--xattrs-include=*", "-C", into, "--exclude=./dev/*", "-xf", tar)  # fmt: skip


def _progress(line: str) -> str | None:
    """The line of mmdebstrap's progress without its prefix; None for other lines."""
    return line.removeprefix("I: ")[:60] if line.startswith("I: ") else None
