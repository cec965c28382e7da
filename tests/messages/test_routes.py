"""The table of messages: what has no row is not sent, and each row has a sender and a handler."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import appliance
from appliance.dialog.table import EVERYWHERE, TABLE
from appliance.messages.registry import Message
from appliance.messages.routes import ROUTES, Route, passed_on_to, receivers_of
from appliance.runtime.process_table import PROCESSES

PACKAGE = Path(appliance.__file__).parent
# The folders in which a part's messages are made and handled.
FOLDERS = {
    "shell": ("cli", "dialog"),
    "supervisor": ("runtime",),
    "conductor": ("dialog", "voice", "tools"),
    "words": ("hear/words",),
    "listener": ("hear",),
    "speaker": ("voice",),
    "thinker": ("think",),
    "link": ("mqtt",),
    "capture": ("audio",),
    "playback": ("audio",),
    "panel": ("panel", "runtime"),
    "page": ("page",),
}


def source(part: str) -> str:
    """All that a part's own folders hold."""
    files = [path for folder in FOLDERS[part] for path in (PACKAGE / folder).rglob("*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


SOURCES = {part: source(part) for part in FOLDERS}


def name_of(route: Route) -> str:
    receivers = "+".join(sorted(route.receivers))
    return f"{route.message.__name__}: {'+'.join(sorted(route.senders))} to {receivers}"


def test_every_message_has_a_row_and_every_row_a_message() -> None:
    assert {route.message for route in ROUTES} == set(get_args(Message))


def test_a_pair_of_ends_has_one_row_a_message() -> None:
    ends = [
        (route.message, sender, receiver)
        for route in ROUTES
        for sender in route.senders
        for receiver in route.receivers
    ]
    assert len(ends) == len(set(ends))


def test_every_end_is_a_process_or_a_shell_and_the_conductor_is_one_of_the_two() -> None:
    parts = {row.name for row in PROCESSES} | {"supervisor", "shell"}
    assert parts == FOLDERS.keys()
    for route in ROUTES:
        assert route.senders | route.receivers <= parts
        assert (route.senders == {"conductor"}) != (route.receivers == {"conductor"})


def test_what_is_passed_on_comes_from_somebody_and_says_nothing_new() -> None:
    for route in ROUTES:
        if not route.means:
            assert any(r.message is route.message and r.means for r in ROUTES), name_of(route)


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_who_sends_it_makes_it(route: Route) -> None:
    if route.means and route.senders != {"conductor"}:
        for sender in route.senders:
            made = re.search(rf"\b{route.message.__name__}\(", SOURCES[sender])
            assert made, f"{sender} never makes one"


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_who_gets_it_handles_it(route: Route) -> None:
    name = route.message.__name__
    for receiver in route.receivers - {"conductor"}:
        handled = re.search(
            rf"case [^:]*\b{name}\b|isinstance\([^)]*\b{name}\b|\b{name} ?\||\| ?{name}\b"
            rf"|^\s+{name}:|\({name}, ",
            SOURCES[receiver],
            re.MULTILINE,
        )
        assert handled, f"{receiver} does nothing with it"


def test_the_conductor_has_a_row_of_its_own_table_or_a_case_for_what_it_gets() -> None:
    got = {route.message for route in ROUTES if "conductor" in route.receivers}
    left = got - {*TABLE, *EVERYWHERE, *passed_on_to("link"), *passed_on_to("page")}
    unhandled = {
        kind.__name__
        for kind in left
        if not re.search(rf"(case|isinstance\()[^:\n]*\b{kind.__name__}\b", SOURCES["conductor"])
    }
    assert unhandled <= {"Opinion", "Dropouts"}  # they change nothing, and are watched only


def test_nothing_passes_that_has_no_row() -> None:
    names = {kind.__name__: kind for kind in get_args(Message)}
    assert receivers_of(names["Onset"], "listener") == {"conductor"}
    assert "listener" not in receivers_of(names["Onset"], "conductor")
    for part in ("link", "page"):
        assert part not in receivers_of(names["Transcribed"], "conductor"), "words stay"
        assert names["WordsHeard"] not in passed_on_to(part), "words stay"
        assert names["Sentence"] not in passed_on_to(part), "words are asked for"
    assert receivers_of(names["BoxStatus"]) == {"page", "panel", "link", "words"}
