"""The box itself: what runs, and the way to all that its owner may look at and change of it."""

from __future__ import annotations

import time

from appliance import __version__
from appliance.page import on_timers
from appliance.page.requests import Reply
from appliance.page.software_state import may_ask
from appliance.page.visit import Visit


def show(visit: Visit) -> Reply:
    """Nothing of it is a word that anybody said."""
    timers = visit.box.model.timers.timers
    return visit.page(
        "own",
        version=__version__,
        passed_on=visit.box.model.state.passed_on,
        timers=sum(not one.alarm for one in timers),
        alarms=sum(one.alarm for one in timers),
        due=on_timers.day_and_time(timers[0].due_s, time.time()) if timers else "",
        keeps=visit.box.settings.memory.keep_turns,
        versions=may_ask(visit.box.places),
    )
