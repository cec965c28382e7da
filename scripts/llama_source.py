"""Unpacks llama-cpp-python's source, which the lock pins, and applies our patches to llama.cpp.

It adds scripts/llama.cmake, by which CMake builds only the libraries that we need.

A patch is a file in scripts/patches for `patch -p1` in llama.cpp's folder. Lines of its head
describe it: `Upstream:` links to the request for the same change, and `Needed-while: FILE: TEXT`
names a text that llama.cpp's FILE contains as long as the patch is needed. Standard library only.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Literal

from scripts.progress import Failed

PATCHES = Path(__file__).resolve().parent / "patches"
LLAMA_CPP = Path("vendor/llama.cpp")  # in llama-cpp-python's source
CMAKE = PATCHES.with_name("llama.cmake")
UNREAD = (".git/", *(f"{LLAMA_CPP}/{folder}/" for folder in ("benches", "docs", "models")))
INCLUDE = f"-DCMAKE_PROJECT_llama_cpp_INCLUDE={CMAKE.name}"  # relative to the source

Outcome = Literal["applied", "already there", "not needed"]


def patches(folder: Path = PATCHES) -> list[Path]:
    """The patches in the order in which they are applied, by name."""
    return sorted(folder.glob("*.patch"))


def digest(folder: Path = PATCHES) -> str:
    """A SHA-256 of all patches and of llama.cmake, for the wheel's cache key."""
    sha256 = hashlib.sha256()
    for patch in (*patches(folder), CMAKE):
        data = patch.read_bytes()
        sha256.update(f"{patch.name} {len(data)} ".encode() + data)
    return sha256.hexdigest()


def unpack(archive: Path, into: Path, folder: Path = PATCHES) -> Path:
    """Unpack llama-cpp-python's source, patch it, and put llama.cmake where the option INCLUDE of
    CMake finds it. Returns its folder. Raises Failed."""
    with tarfile.open(archive) as tar:
        tar.extractall(into, [member for member in tar if _read_by_a_build(member)], filter="data")
    source = next(path for path in into.iterdir() if (path / LLAMA_CPP).is_dir())
    for patch in patches(folder):
        print(f"   {patch.name}: {apply(patch, source / LLAMA_CPP)}", flush=True)
    shutil.copy(CMAKE, source)
    return source


def _read_by_a_build(member: tarfile.TarInfo) -> bool:
    """Whether a build may read the archive's `member`: half of its bytes are of no use to it."""
    return not member.name.partition("/")[2].startswith(UNREAD)


def apply(patch: Path, llama_cpp: Path) -> Outcome:
    """Apply a patch, unless it is already applied or no longer needed. Raises Failed if it does not
    apply cleanly.

    No fuzz is allowed: a patch that no longer matches needs a review, and a build that silently
    left it out would be slower without a visible reason.
    """
    if _patch(patch, llama_cpp, "--reverse", "--dry-run") is None:
        return "already there"
    if not needed(patch, llama_cpp):
        return "not needed"
    if (error := _patch(patch, llama_cpp, "--dry-run")) is not None:
        upstream = "".join(re.findall(r"^Upstream: (\S+)", patch.read_text(), re.MULTILINE))
        raise Failed(
            f"{patch} does not fit this llama.cpp ({error}). If {upstream} is in it, "
            "remove the patch, else make it again"
        )
    if (error := _patch(patch, llama_cpp)) is not None:
        raise Failed(f"{patch} is only partly applied ({error}). Build again")
    return "applied"


def needed(patch: Path, llama_cpp: Path) -> bool:
    """Whether llama.cpp's file contains the text of `Needed-while:`, or is missing, so that nothing
    can be concluded."""
    condition = re.search(r"^Needed-while: (\S+): (.+)$", patch.read_text(), re.MULTILINE)
    if condition is None:
        raise Failed(f"{patch} does not say for how long it is needed: Needed-while: FILE: TEXT")
    file = llama_cpp / condition[1]
    return not file.is_file() or condition[2].strip() in file.read_text(errors="replace")


def _patch(patch: Path, folder: Path, *options: str) -> str | None:
    """Run `patch`. None if it succeeded, else the last line of its output."""
    done = subprocess.run(
        ["patch", "-p1", "--force", "--fuzz=0", "--reject-file=-",
         "--no-backup-if-mismatch", f"--input={patch}", *options],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    output = (done.stdout + done.stderr).strip().splitlines()
    return (output[-1] if output else f"code {done.returncode}") if done.returncode else None
