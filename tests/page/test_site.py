"""The checks that every request passes, and the response to each attack."""

from __future__ import annotations

import re

import pytest

from appliance.messages.commands import Mute, Say, SetVolume
from appliance.page.pairing import TRIES
from appliance.page.requests import FORM, EventStream, Reply
from appliance.page.site import MOST_POSTS, PAGES
from appliance.page.visit import COOKIE, WAITING
from tests.page.desk import CODE, HOST, Desk

CLOSED = sorted(path for path, route in PAGES.items() if not route.open)


def test_an_unpaired_browser_sees_only_name_and_state(desk: Desk) -> None:
    page = desk.text("/")
    assert "<title>Interlude</title>" in page
    assert "Ready" in page
    for word in ("espeak", "amy", "pocket", "volume", "canvas", "0.8"):
        assert word not in page


@pytest.mark.parametrize("path", CLOSED)
def test_an_unpaired_browser_reads_no_page_and_sends_no_form_but_the_pairing_form(
    desk: Desk, path: str
) -> None:
    reply = desk.get(path)
    assert reply.status in (200, 405)
    assert b"picture" not in reply.body
    assert desk.post(path, {"do": "mute", "token": "x"}).status in (403, 405)
    assert desk.sent == []


def test_a_browser_with_the_right_digits_is_paired_and_stays_paired(desk: Desk) -> None:
    desk.pair()
    assert "canvas" in desk.text("/")
    desk.now_s += 300 * 86_400
    assert "canvas" in desk.text("/")


def test_the_cookie_is_http_only_and_same_site(desk: Desk) -> None:
    desk.post("/pair/code")
    reply = desk.post("/pair", {"code": CODE})
    (cookie,) = [v for n, v in reply.headers if n == "Set-Cookie" and v.startswith(f"{COOKIE}=")]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


@pytest.mark.parametrize(
    "host",
    ["evil.example", "interlude.local.evil.example", "interlude.evil.example", "", "x" * 9000,
     "interlude.local:81", "other.local", "interlude.local@evil.example"],
)  # fmt: skip
def test_another_host_name_is_refused_for_every_path(desk: Desk, host: str) -> None:
    desk.pair()
    for path in ("/", "/access", "/static/page.css", "/events"):
        reply = desk.request("GET", path, host=host)
        assert isinstance(reply, Reply)
        assert reply.status == 421
        assert b"<" not in reply.body


@pytest.mark.parametrize(
    "host", ["192.168.1.20", "interlude", "INTERLUDE.local.", "interlude-2.lan"]
)
def test_the_boxs_own_names_and_addresses_are_answered(desk: Desk, host: str) -> None:
    assert desk.get("/", host=host).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", f"http://{HOST}:8080", f"ftp://{HOST}"]
)
def test_a_form_of_another_origin_does_nothing(desk: Desk, origin: str) -> None:
    desk.pair()
    form = {"do": "volume", "volume": "100", "token": desk.token}
    assert desk.post("/do", form, origin=origin).status == 403
    assert desk.post("/do", form).status == 303
    assert desk.sent == [SetVolume(1.0)]


def test_a_cross_site_form_does_nothing(desk: Desk) -> None:
    desk.pair()
    form = {"do": "mute", "token": desk.token}
    assert desk.post("/do", form, sec_fetch_site="same-site").status == 403
    assert desk.post("/do", form, sec_fetch_site="same-origin").status == 303
    assert desk.sent == [Mute(on=True)]


@pytest.mark.parametrize("token", ["", "0" * 64, "x"])
def test_a_form_without_its_browsers_token_does_nothing(desk: Desk, token: str) -> None:
    desk.pair()
    assert desk.post("/do", {"do": "mute", "token": token}).status == 403
    assert desk.sent == []


def test_a_token_is_invalid_with_another_browsers_cookie(desk: Desk) -> None:
    desk.pair()
    others = desk.token
    desk.cookies.clear()
    desk.now_s += 120
    desk.pair()
    assert desk.post("/do", {"do": "mute", "token": others}).status == 403


def test_a_revoked_cookie_is_invalid_when_replayed(desk: Desk) -> None:
    desk.pair()
    old_cookies = dict(desk.cookies)
    (browser,) = desk.box.access.browsers
    assert desk.post("/access/revoke", {"id": browser.id, "token": desk.token}).status == 303
    assert desk.cookies == {}
    desk.cookies = old_cookies
    assert "canvas" not in desk.text("/")
    reply = desk.request("GET", "/events")
    assert isinstance(reply, Reply)
    assert reply.status == 403


def test_an_event_stream_ends_when_its_access_is_revoked(desk: Desk) -> None:
    desk.pair()
    stream = desk.request("GET", "/events")
    assert isinstance(stream, EventStream)
    sent: list[bytes] = []
    desk.site.join(stream, sent.append)
    assert sent[0].startswith(b"retry: ")
    desk.post("/access/revoke", {"id": stream.access, "token": desk.token})
    assert sent[-1] == b""
    assert not desk.viewers.any


@pytest.mark.long
def test_a_day_of_guessing_from_250_addresses_is_200_guesses_in_a_million(desk: Desk) -> None:
    looked, step_s = 0, 120
    for number in range(86_400 // step_s):
        desk.address = f"192.168.1.{number % 250}"
        desk.post("/pair/code")
        for _ in range(TRIES + 1):
            attempt = desk.box.pairing.attempt(desk.cookies.get(WAITING, ""), desk.now_s)
            left = attempt.tries if attempt is not None else 0
            desk.post("/pair", {"code": "111111"})
            looked += attempt is not None and attempt.tries < left
        desk.now_s += step_s
    codes = [one for one in desk.sent if isinstance(one, Say) and one.number]
    warnings = len([one for one in desk.sent if isinstance(one, Say)]) - len(codes)
    assert COOKIE not in desk.cookies
    assert 30 < len(codes) <= 40
    assert looked <= TRIES * len(codes) <= 200
    assert 0 < warnings <= 24, "that somebody guesses"


def test_forms_are_rate_limited(desk: Desk) -> None:
    codes = [desk.post("/pair/code").status for _ in range(MOST_POSTS + 5)]
    assert codes[-5:] == [429] * 5


def test_a_strangers_forms_do_not_count_as_those_of_a_paired_browser(desk: Desk) -> None:
    """From the same address, or the same IPv6 network."""
    desk.pair()
    form, cookies = {"do": "mute", "token": desk.token}, dict(desk.cookies)
    desk.cookies.clear()
    strange = [desk.post("/pair", {"code": "1"}).status for _ in range(2 * MOST_POSTS)]
    assert strange[-MOST_POSTS:] == [429] * MOST_POSTS
    desk.cookies = cookies
    own = [desk.post("/do", form).status for _ in range(MOST_POSTS + 1)]
    assert own == [303] * MOST_POSTS + [429]


def test_a_request_that_is_not_a_form_is_refused(desk: Desk) -> None:
    desk.pair()
    assert desk.post("/do", content_type="application/json").status == 415
    assert desk.post("/do", content_type=FORM, body="a=1&a=2").status == 415
    assert desk.post("/nowhere").status == 404
    reply = desk.request("DELETE", "/")
    assert isinstance(reply, Reply)
    assert reply.status == 405


def test_the_page_is_in_the_browsers_language(desk: Desk) -> None:
    assert 'lang="de"' in desk.get("/", accept_language="de-CH,en;q=0.5").body.decode()
    assert 'lang="en"' in desk.get("/", accept_language="fr,en;q=0.5").body.decode()


def test_each_page_has_one_title_one_main_and_a_name_for_every_field(desk: Desk) -> None:
    desk.pair()
    for path, route in PAGES.items():
        if route.get is None or route.open:
            continue
        reply = desk.get(path)
        if reply.status == 303:  # a download for the browser that made it
            continue
        page = reply.body.decode()
        assert len(re.findall(r"<h1", page)) == 1, path
        assert len(re.findall(r"<main", page)) == 1, path
        fields = re.findall(r'<(?:input|select|textarea)(?![^>]*type="hidden")[^>]*>', page)
        for field in fields:
            name = re.search(r'id="([\w-]+)"', field)
            labelled = name and f'for="{name[1]}"' in page
            before = page[: page.index(field)]
            inside = before.rfind("<label") > before.rfind("</label>")
            assert labelled or inside, field


def test_no_page_loads_anything_from_another_site(desk: Desk) -> None:
    desk.pair()
    for path, route in PAGES.items():
        if route.get is not None:
            loaded = re.sub(
                r'<a rel="noreferrer" href="https://[^"]*">', "", desk.text(path)
            )  # links that the user follows
            places = re.findall(r'(?:src|href|action)="([^"]*)"', loaded)
            assert [place for place in places if not place.startswith(("/", "#"))] == []
