"""One launcher for all boxes that this process runs, so that each but the first starts in half the
processor time."""

from __future__ import annotations

import atexit
from collections.abc import Mapping

from appliance.runtime.supervision.launcher import Launcher

_launchers: list[Launcher] = []


def launcher_for(environment: Mapping[str, str]) -> Launcher:
    """A launcher for processes with this environment, for as long as this process runs."""
    for launcher in _launchers:
        if launcher.fits(environment):
            return launcher
    _launchers.append(Launcher(environment))
    atexit.register(_launchers[-1].close)
    return _launchers[-1]
