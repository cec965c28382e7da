"""The environment of the compared programs: a folder of its own, with exactly what the lock lists.

In: the lock file, a folder. Out: a Python that can import the programs, or an error that says what
to do. Nothing of it is installed beside the box's own packages.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.bench.benches import BenchError

ROOT = Path(__file__).resolve().parents[2]
LOCK = Path(__file__).with_name("peers-requirements.lock")
FOLDER = ROOT / ".make" / "peers"
PROGRAMS = ("pipecat-ai", "livekit-agents")  # of the lock: the compared ones
COMMAND = "`interlude bench peers --install`"
# Wheels only, and nothing but what the lock names: no source is built, no dependency added.
PIP = ("-m", "pip", "install", "--no-input", "--no-deps", "--require-hashes", "--only-binary",
       ":all:", "--requirement")  # fmt: skip


@dataclass(frozen=True)
class PeerEnvironment:
    """A virtual environment in `folder` with the packages of `lock`."""

    folder: Path = FOLDER
    lock: Path = LOCK

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def require(self) -> None:
        """Raises BenchError if it is missing, unfinished, or of another lock."""
        stamp = self._stamp()
        if not stamp.is_file() or not self.python.exists():
            raise BenchError("The programs to compare are not installed.",
                             f"{COMMAND} installs them from PyPI into {self.folder}.")  # fmt: skip
        if stamp.read_text(encoding="utf-8") != self._digest():
            raise BenchError("The installed programs are not those of the lock file.",
                             f"{COMMAND} installs them again.")  # fmt: skip

    def install(self, variables: Mapping[str, str] | None = None) -> None:
        """Build it unless it is complete. `variables`: of pip's environment, in addition.

        Raises BenchError, with the end of pip's output, if a package cannot be had or has another
        hash. What was installed by then is not used.
        """
        try:
            self.require()
        except BenchError:
            self._build({**os.environ, **(variables or {})})

    def versions(self) -> dict[str, str]:
        """Name → version of the compared programs, by the lock."""
        return {
            name: version
            for name, version in re.findall(
                r"^([a-z0-9-]+)==([^\s;\\]+)", self._text(), re.MULTILINE
            )
            if name in PROGRAMS
        }

    def _build(self, variables: Mapping[str, str]) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        print(f"Installing the programs to compare into {self.folder}", file=sys.stderr)
        for command in ((sys.executable, "-m", "venv", str(self.folder)),
                        (str(self.python), *PIP, str(self.lock))):  # fmt: skip
            done = subprocess.run(
                command, env=dict(variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
            )  # fmt: skip
            if done.returncode:
                raise BenchError("The programs to compare cannot be installed:",
                                 _last_error(done.stdout))  # fmt: skip
        self._stamp().write_text(self._digest(), encoding="utf-8")

    def _stamp(self) -> Path:
        return self.folder / "lock.sha256"

    def _text(self) -> str:
        return self.lock.read_text(encoding="utf-8")

    def _digest(self) -> str:
        return hashlib.sha256(self.lock.read_bytes()).hexdigest()


def _last_error(output: str) -> str:
    """pip's last line with an error, else its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no output"])[-1]
