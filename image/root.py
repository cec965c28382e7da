"""The root file system: Debian 13 for the Pi from two lists of packages. Out: a tar file.

Kept by what the lists say. `--fresh` makes it anew with the archive's newest.

mmdebstrap mounts this machine's /dev/shm and more into what it makes, and leaves them there when it
is stopped half-way. So it has a mount namespace of its own: in the folder that is then cleared,
nothing of this machine is seen. Each making has a folder of its own, too.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from image import archives
from image.plan import DEBIAN, ROOT, SUITE, Plan, lines, once
from image.tools import ask, quietly

LISTS = (ROOT / "image/base.txt", ROOT / "image/packages.txt")
_NOT_WANTED = (  # nobody reads them on the box; copyright files stay
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/doc/*",
)
_WANTED = ("/usr/share/doc/*/copyright",)
ALONE = ("unshare", "--mount", "--propagation", "private")
_SPACE = 3 << 30  # of memory that the making takes, at most


def make(plan: Plan) -> Path:
    """The tar file. Raises NotBuilt."""
    packages = sorted({package for each in LISTS for package in lines(each)})
    parts = [SUITE, DEBIAN, *_NOT_WANTED, *_WANTED, *packages]

    def write(path: Path) -> None:
        # dpkg waits for the disk after each file; in memory that costs nothing.
        memory = Path("/dev/shm")  # noqa: S108  # a folder of our own is made in it
        fast = memory.is_dir() and shutil.disk_usage(memory).free > _SPACE
        place = memory if fast else plan.work
        scratch = Path(tempfile.mkdtemp(prefix="interlude-image-", dir=place))
        scratch.chmod(0o755)  # apt in it gives up being root
        leave_out = [f"--dpkgopt=path-exclude={name}" for name in _NOT_WANTED]
        take = [f"--dpkgopt=path-include={name}" for name in _WANTED]
        try:
            quietly(
                "Debian cannot be installed", "INTERLUDE_DEBIAN=… names another archive.",
                plan.logs / "mmdebstrap.log",
                *ALONE, "mmdebstrap", f"--architectures={DEBIAN}", "--variant=minbase",
                "--format=tar",
                "--skip=check/qemu",
                f"--include={','.join(packages)}", *leave_out, *take, SUITE, path,
                *archives.sources(),
                environment={"TMPDIR": str(scratch), "SOURCE_DATE_EPOCH": str(plan.time_s)},
                progress=_progress,
            )  # fmt: skip
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    return once(plan.cache, "root", parts, write)


def unpack(tar: Path, into: Path) -> None:
    """As root: owners, capabilities, but no device files."""
    into.mkdir(parents=True)
    ask("The root file system cannot be unpacked", "tar", "--numeric-owner", "--xattrs",
        "--xattrs-include=*", "-C", into, "--exclude=./dev/*", "-xf", tar)  # fmt: skip


def _progress(line: str) -> str | None:
    """mmdebstrap's own steps, without its marks."""
    return line.removeprefix("I: ")[:60] if line.startswith("I: ") else None
