"""`interlude release selftest`: a release looks whether it could run here, before it is tried.

Imports every part with all that it needs, also what it imports only once it has looked at the
settings, and reads the owner's settings. Opens no sound card, so that the box may go on talking
meanwhile.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from appliance.errors import InterludeError, ReleaseRefused
from appliance.runtime.process_table import Process
from appliance.settings import Settings

# Modules that a row imports when it has looked at the settings: foreign libraries with them.
LATER: dict[str, Callable[[Settings], str]] = {
    "thinker": lambda settings: "think.remote" if settings.thinking.remote.url else "think.local",
}


def import_parts(settings: Settings, rows: Sequence[Process]) -> int:
    """How many parts could be imported. Raises ReleaseRefused for the first that cannot."""
    for row in rows:
        modules = [row.module]
        if row.name in LATER:
            modules.append(LATER[row.name](settings))
        try:
            for module in modules:
                importlib.import_module(f"appliance.{module}")
        except InterludeError:
            raise
        except Exception as error:  # whatever a foreign library raises, the answer is no
            problem = f"{row.name} cannot be loaded: {type(error).__name__}: {error}."
            raise ReleaseRefused(problem) from error
    return len(rows)
