"""Waits for the end of a conversation before anything is restarted."""

from __future__ import annotations

from appliance.errors import InstallDeferred, ShownAs
from appliance.update.progress import Progress
from appliance.update.release.target import InstallTarget

QUIET_S = 3.0  # nobody has spoken for so long
LOOK_S = 0.25  # between two looks at the box


def wait_for_quiet(box: InstallTarget, wait_s: float, progress: Progress) -> None:
    """Return when nobody talks with the box. Raises InstallDeferred after `wait_s`; 0: not now,
    then."""
    began = quiet_since = box.now_s()
    spoken = False
    while True:
        now_s = box.now_s()
        if box.read_health().talking:
            quiet_since, spoken = now_s, True
        if not spoken or now_s - quiet_since >= QUIET_S:
            return
        if now_s - began >= wait_s:
            problem = "Somebody talks with the box: it is not restarted now."
            raise InstallDeferred(
                problem,
                "Try again later; what was brought lies ready.",
                shown=ShownAs.of("page-wrong-somebody-talks"),
            )
        progress("wait for silence", min(1.0, (now_s - began) / max(1.0, wait_s)))
        box.wait(LOOK_S)
