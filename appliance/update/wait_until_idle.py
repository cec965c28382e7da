"""Waits for the end of a conversation before anything is restarted."""

from __future__ import annotations

from appliance.errors import InstallDeferred, ShownAs
from appliance.update.progress import Progress
from appliance.update.release.target import InstallTarget

QUIET_S = 3.0  # required silence after a conversation
LOOK_S = 0.25  # between two readings of the box's state


def wait_for_quiet(box: InstallTarget, wait_s: float, progress: Progress) -> None:
    """Return when no conversation is under way. Raises InstallDeferred after `wait_s`, with 0 at
    once."""
    began_s = quiet_since_s = box.now_s()
    was_talking = False
    while True:
        now_s = box.now_s()
        if box.read_health().talking:
            quiet_since_s, was_talking = now_s, True
        if not was_talking or now_s - quiet_since_s >= QUIET_S:
            return
        if now_s - began_s >= wait_s:
            problem = "A conversation is under way: the box was not restarted."
            raise InstallDeferred(
                problem,
                "Try again later; the version is ready to install.",
                shown=ShownAs.of("page-wrong-somebody-talks"),
            )
        progress("wait for silence", min(1.0, (now_s - began_s) / max(1.0, wait_s)))
        box.wait(LOOK_S)
