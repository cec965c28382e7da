"""The box itself: what runs, what is set, and what its owner may have it forget or begin anew."""

from __future__ import annotations

import time

from appliance import __version__
from appliance.page.requests import Reply
from appliance.page.visit import Visit


def show(visit: Visit) -> Reply:
    """Nothing of it is a word that anybody said."""
    timers = visit.box.model.timers
    due = timers.next_at_s if timers is not None else 0.0
    return visit.page(
        "own",
        version=__version__,
        timers=timers,
        due=time.strftime("%Y-%m-%d %H:%M", time.localtime(due)) if due else "",
        keeps=visit.box.settings.memory.keep_turns,
    )
