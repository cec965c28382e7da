"""A failing memory card: the n-th file call below a folder fails or stalls, for every n.

`badcard.c` is preloaded into a separate process, which repeats a scene of `badcard_scenes.py`: its
first call fails, then its second, until the scene ends before the call that would fail.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = Path(__file__).with_suffix(".c")
TAKES_S = 1500.0  # enough for the longest scene, with a stall of seconds at each call


@dataclass(frozen=True)
class Fault:
    """What the card does at the n-th call. `lasts`: at all later calls that it applies to, too."""

    error: str = ""
    lasts: bool = False
    stall_s: float = 0.0

    def __str__(self) -> str:
        what = self.error or f"stall of {self.stall_s:g} s"
        return f"{what} from then on" if self.lasts else what


ONCE = tuple(Fault(name) for name in ("ENOSPC", "EROFS", "EIO"))
LASTING = tuple(Fault(name, lasts=True) for name in ("ENOSPC", "EROFS", "EIO"))


def build(folder: Path) -> Path:
    """Build the library to preload."""
    made = folder / "badcard.so"
    flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")
    subprocess.run(["cc", *flags, "-o", str(made), str(SOURCE)], check=True)
    return made


def play(
    library: Path,
    scene: str,
    fault: Fault,
    folder: Path,
    *,
    image: Path | None = None,
    every: int = 1,
    first: int = 1,
    only: int = 0,
) -> int:
    """Play the scene with a fault at every `every`-th call from `first` on. `only`: the most hits.

    Returns the number of hits. Raises AssertionError with the message of the scene."""  # fmt: skip
    words = [scene, fault.error, str(int(fault.lasts)), str(fault.stall_s), str(folder),
             str(image or ""), str(every), str(first), str(only)]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "tests.badcard_scenes", *words],
        cwd=ROOT, env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True, text=True, check=False, timeout=TAKES_S,
    )  # fmt: skip
    assert done.returncode == 0, f"{scene}, {fault}: {done.stderr[-3000:]}"
    return int(json.loads(done.stdout.splitlines()[-1]))


class Card:
    """The card inside that process: arms the library, and counts a word on the raw device."""

    def __init__(self, fault: Fault, folder: Path, image: Path | None) -> None:
        self._library = ctypes.CDLL(None)
        self._library.badcard_arm.argtypes = [
            ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_double
        ]  # fmt: skip
        self._library.badcard_disarm.restype = ctypes.c_long
        self._fault = fault
        self._image = image
        self.folder = folder
        self.number = 0  # which call fails

    @property
    def stalls(self) -> bool:
        return self._fault.stall_s > 0

    @property
    def lasting_error(self) -> str:
        return self._fault.error if self._fault.lasts else ""

    def arm(self) -> None:
        error = getattr(errno, self._fault.error) if self._fault.error else 0
        self._library.badcard_arm(
            os.fsencode(self.folder), self.number, error, int(self._fault.lasts),
            self._fault.stall_s,
        )  # fmt: skip

    def disarm(self) -> bool:
        """Disarm the library. Returns whether a call was hit."""
        return bool(self._library.badcard_disarm() > 0)

    def count(self, word: bytes) -> int:
        """Occurrences on the raw device, or in the files of the folder if there is no image."""
        if self._image is None:
            return self._count_in_files(word)
        os.sync()
        return self._image.read_bytes().count(word)

    def _count_in_files(self, word: bytes) -> int:
        while True:
            files = [path for path in self.folder.rglob("*") if path.is_file()]
            try:
                return sum(path.read_bytes().count(word) for path in files)
            except FileNotFoundError:
                continue  # a file was removed or renamed meanwhile: read all of them again
