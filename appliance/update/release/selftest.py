"""`interlude release selftest`: a release checks that it can run here, before its trial.

Imports the module of every process with all that it needs, also what depends on the settings, and
reads the owner's settings. Opens no sound card, so that the running box is not disturbed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from appliance.errors import InterludeError, ReleaseRefused
from appliance.runtime.process_table import Process
from appliance.settings import Settings

# Modules that a process imports depending on the settings, with their foreign libraries.
LATER: dict[str, Callable[[Settings], str]] = {
    "thinker": lambda settings: "think.remote" if settings.thinking.remote.url else "think.local",
}


def import_parts(settings: Settings, rows: Sequence[Process]) -> int:
    """Import the modules of `rows`; return the number of rows. Raises ReleaseRefused for the first
    that cannot be imported."""
    for row in rows:
        modules = [row.module]
        if row.name in LATER:
            modules.append(LATER[row.name](settings))
        try:
            for module in modules:
                importlib.import_module(f"appliance.{module}")
        except InterludeError:
            raise
        except Exception as error:  # a foreign library may raise anything
            problem = f"{row.name} cannot be loaded: {type(error).__name__}: {error}."
            raise ReleaseRefused(problem) from error
    return len(rows)
