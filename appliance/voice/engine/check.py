"""Runs the self-check of a voice's program, in its sandbox and as the box's own user."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

from appliance.runtime.service_account import USERS
from appliance.runtime.supervision.process_limits import UNTOUCHED_MIB
from appliance.voice.program import MEMORY_MIB

CHECK_S = 60.0  # timeout: it imports all its modules from an SD card


def self_check(folder: Path) -> str:
    """Run the check of the program in `folder`. Returns the problem; "" for none."""
    command = [
        sys.executable, "-m", "appliance.voice.confine", str(os.getpid()),
        str(MEMORY_MIB + UNTOUCHED_MIB), str(folder / "bin/voice"), "--check",
    ]  # fmt: skip
    user = _box_user() if os.geteuid() == 0 else None
    try:
        result = subprocess.run(
            command, user=user, group=user, extra_groups=[] if user is not None else None,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            cwd="/", check=False, timeout=CHECK_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"its check did not end within {CHECK_S:g} s"
    except OSError as error:
        return f"its check cannot be started ({error.strerror})"
    if not result.returncode:
        return ""
    lines = (result.stderr or result.stdout).strip().splitlines()
    message = (
        "".join(char if char.isprintable() else " " for char in lines[-1][:200]) if lines else ""
    )
    return message.rstrip(".") or f"its check ended with code {result.returncode}"


def _box_user() -> int | None:
    """The speaker's user; None if there is no such user, as on a development machine."""
    for name in USERS["box"]:
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    return None
