"""`interlude release selftest`: a release looks whether it could run here, before it is tried.

Imports every part with all that it needs, and reads the owner's settings. Opens no sound card,
so that the box may go on talking meanwhile.
"""

from __future__ import annotations

import importlib

from appliance import processes
from appliance.errors import InterludeError, ReleaseRefused
from appliance.settings import Settings


def look(settings: Settings) -> int:
    """How many parts could be imported. Raises ReleaseRefused for the first that cannot."""
    rows = processes.table(settings)
    for row in rows:
        try:
            importlib.import_module(f"appliance.{row.module}")
        except InterludeError:
            raise
        except Exception as error:  # whatever a foreign library raises, the answer is no
            problem = f"{row.name} cannot be loaded: {type(error).__name__}: {error}."
            raise ReleaseRefused(problem) from error
    return len(rows)
