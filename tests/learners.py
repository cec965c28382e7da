"""The running programs that learn an owner's voice (hear/bargein/enrolment_program.py)."""

from __future__ import annotations

import psutil


def learners() -> list[psutil.Process]:
    """Those among the descendants of this process."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "enrolment_program" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue  # the process has just ended
    return found
