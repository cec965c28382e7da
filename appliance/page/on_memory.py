"""The memory, for paired browsers: lists the turns, and forgets single ones or all.

The text is read from the memory's file for each request and not cached. If the setting
`memory.keep_turns` is off, nothing is shown, even if the file exists.
"""

from __future__ import annotations

from appliance.errors import StorageError
from appliance.messages.commands import ForgetTurn
from appliance.messages.limits import MAX_COUNT
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit
from appliance.runtime import memory_files
from appliance.runtime.memory_reader import StoredTurn, read_turns

PLACE = "/own/memory"
ON_A_PAGE = 20


def show(visit: Visit) -> Reply:
    """Show the turns, newest first, ON_A_PAGE per page."""
    box, at = visit.box, _number(visit.request.words.get("page", "1"))
    if at is None or at < 1:
        return plain(400, "There is no such page.")
    turns, count, problem = list[StoredTurn](), 0, ""
    keeps = box.settings.memory.keep_turns
    if keeps:
        try:
            turns, count = read_turns(
                memory_files.path(box.settings), ON_A_PAGE, ON_A_PAGE * (at - 1)
            )
        except StorageError:
            problem = visit.texts("page-memory-unreadable")
    return visit.page(
        "memory",
        turns=turns,
        count=count,
        at=at,
        pages=-(-count // ON_A_PAGE),
        keeps=keeps,
        problem=problem,
        forgetting=box.model.forgetting,
        day=_day,
    )


def forget(visit: Visit) -> Reply:
    """Ask the conductor to forget one turn."""
    started, number = visit.form.get("started", ""), _number(visit.form.get("turn", ""))
    if number is None or not started or len(started) > 40:
        return plain(400, "There is no such turn.")
    if not visit.box.send(ForgetTurn(started, number)):
        return plain(503, "The box takes no commands at the moment. Try again.")
    visit.box.model.forgetting.asked((started, number))
    return see_other(PLACE)


def _number(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        return None
    return int(text) if int(text) < MAX_COUNT else None


def _day(started: str) -> str:
    """Date and time of an ISO time, without seconds."""
    return started[:16].replace("T", " ")
