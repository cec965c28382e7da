"""Errors: a page for people, in their language; a sentence for every other client."""

from __future__ import annotations

import pytest

from appliance.page.problem import problem_page
from appliance.page.requests import Request, plain
from appliance.page.texts import Texts
from appliance.page.visit import Visit
from tests.page.desk import HOST, Desk

HTML = "text/html,application/xhtml+xml,*/*;q=0.8"


def test_a_mistyped_address_is_a_page_with_a_way_back(desk: Desk) -> None:
    desk.pair()
    reply = desk.get("/own/nothing", accept=HTML, accept_language="de")
    assert reply.status == 404
    page = reply.body.decode()
    assert "Diese Seite gibt es nicht" in page
    assert 'href="/own"' in page


def test_an_unpaired_browser_gets_the_error_page_and_nothing_of_the_box(desk: Desk) -> None:
    page = desk.get("/nothing", accept=HTML).body.decode()
    assert "There is no such page" in page
    assert "<nav" not in page
    assert 'href="/"' in page


def test_an_old_form_and_too_many_forms_get_different_errors(desk: Desk) -> None:
    desk.pair()
    old = desk.post("/do", {"do": "mute", "token": "x"}, accept=HTML)
    assert (old.status, b"send it again" in old.body) == (403, True)
    replies = [desk.post("/do", {"token": "x"}, accept=HTML) for _ in range(40)]
    assert replies[-1].status == 429
    assert b"Wait a minute" in replies[-1].body
    assert desk.sent == []


@pytest.mark.parametrize(("language", "says"), [("en", "it was removed"), ("de", "wurde entfernt")])
def test_a_browser_that_was_removed_is_told_so(desk: Desk, language: str, says: str) -> None:
    desk.pair()
    form = {"do": "mute", "token": desk.token}
    desk.box.access.revoke(desk.box.access.browsers[0].id)
    reply = desk.post("/do", form, accept=HTML, accept_language=language)
    assert (reply.status, desk.sent) == (403, [])
    assert says in reply.body.decode()


def test_a_box_that_accepts_no_commands_says_to_try_again(desk: Desk) -> None:
    desk.pair()
    form = {"do": "mute", "token": desk.token}
    desk.accepts_messages = False
    reply = desk.post("/do", form, accept=HTML)
    assert (reply.status, b"does not answer" in reply.body) == (503, True)


def test_a_sentence_of_the_catalogue_is_shown_escaped(desk: Desk) -> None:
    desk.pair()
    visit = Visit(desk.box, Request("POST", "/own/voice"), Texts("de"), desk.box.access.browsers[0])
    page = problem_page(visit, plain(409, "Gerade spricht <jemand>.")).body.decode()
    assert "Gerade spricht &lt;jemand&gt;." in page
    assert 'href="/own"' in page


@pytest.mark.parametrize("accept", ["", "*/*", "text/event-stream"])
def test_a_script_gets_a_plain_text_sentence(desk: Desk, accept: str) -> None:
    reply = desk.get("/nothing", accept=accept)
    assert (reply.status, reply.body) == (404, b"There is no such page.\n")


def test_another_host_name_gets_no_page_at_all(desk: Desk) -> None:
    reply = desk.get("/", accept=HTML, host="evil.example")
    assert (reply.status, b"<" in reply.body) == (421, False)
    assert HOST.encode() not in reply.body
