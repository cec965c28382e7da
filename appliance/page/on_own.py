"""Own: the box's version and state, and links to the views of memory, models, software and more."""

from __future__ import annotations

import time

from appliance import __version__
from appliance.page import on_timers
from appliance.page.requests import Reply
from appliance.page.software_state import may_ask
from appliance.page.visit import Visit


def show(visit: Visit) -> Reply:
    """Show the overview. It contains no spoken text."""
    timers = visit.box.model.timers.timers
    return visit.page(
        "own",
        version=__version__,
        passed_on=visit.box.model.state.passed_on,
        timers=sum(not timer.alarm for timer in timers),
        alarms=sum(timer.alarm for timer in timers),
        due=on_timers.day_and_time(timers[0].due_s, time.time()) if timers else "",
        keeps=visit.box.settings.memory.keep_turns,
        versions=may_ask(visit.box.places),
    )
