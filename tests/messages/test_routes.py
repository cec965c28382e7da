"""The routing table: a message without a row is not sent; each row has a sender and a handler."""

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
    """The source text of all modules in a part's folders."""
    files = [path for folder in FOLDERS[part] for path in (PACKAGE / folder).rglob("*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


SOURCES = {part: source(part) for part in FOLDERS}


def name_of(route: Route) -> str:
    receivers = "+".join(sorted(route.receivers))
    return f"{route.message.__name__}: {'+'.join(sorted(route.senders))} to {receivers}"


def test_every_message_has_a_row_and_every_row_a_message() -> None:
    assert {route.message for route in ROUTES} == set(get_args(Message))


def test_each_message_has_one_row_per_sender_and_receiver() -> None:
    ends = [
        (route.message, sender, receiver)
        for route in ROUTES
        for sender in route.senders
        for receiver in route.receivers
    ]
    assert len(ends) == len(set(ends))


def test_every_end_is_a_known_part_and_exactly_one_end_is_the_conductor() -> None:
    parts = {row.name for row in PROCESSES} | {"supervisor", "shell"}
    assert parts == FOLDERS.keys()
    for route in ROUTES:
        assert route.senders | route.receivers <= parts
        assert (route.senders == {"conductor"}) != (route.receivers == {"conductor"})


def test_a_forwarded_message_has_another_row_that_gives_its_meaning() -> None:
    for route in ROUTES:
        if not route.means:
            assert any(r.message is route.message and r.means for r in ROUTES), name_of(route)


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_each_sender_constructs_the_message(route: Route) -> None:
    if route.means and route.senders != {"conductor"}:
        for sender in route.senders:
            made = re.search(rf"\b{route.message.__name__}\(", SOURCES[sender])
            assert made, f"{sender} never makes one"


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_each_receiver_handles_the_message(route: Route) -> None:
    name = route.message.__name__
    for receiver in route.receivers - {"conductor"}:
        handled = re.search(
            rf"case [^:]*\b{name}\b|isinstance\([^)]*\b{name}\b|\b{name} ?\||\| ?{name}\b"
            rf"|^\s+{name}:|\({name}, ",
            SOURCES[receiver],
            re.MULTILINE,
        )
        assert handled, f"{receiver} has no handler for it"


def test_the_conductor_has_a_table_row_or_a_case_for_each_message_it_receives() -> None:
    got = {route.message for route in ROUTES if "conductor" in route.receivers}
    left = got - {*TABLE, *EVERYWHERE, *passed_on_to("link"), *passed_on_to("page")}
    unhandled = {
        kind.__name__
        for kind in left
        if not re.search(rf"(case|isinstance\()[^:\n]*\b{kind.__name__}\b", SOURCES["conductor"])
    }
    assert unhandled <= {"Opinion", "Dropouts"}  # these change no state; they are only observed


def test_a_message_without_a_row_has_no_receiver() -> None:
    names = {kind.__name__: kind for kind in get_args(Message)}
    assert receivers_of(names["Onset"], "listener") == {"conductor"}
    assert "listener" not in receivers_of(names["Onset"], "conductor")
    for part in ("link", "page"):
        assert part not in receivers_of(names["Transcribed"], "conductor"), "not sent"
        assert names["WordsHeard"] not in passed_on_to(part), "not forwarded"
        assert names["Sentence"] not in passed_on_to(part), "sent only on request"
    assert receivers_of(names["BoxStatus"]) == {"page", "panel", "link", "words"}
