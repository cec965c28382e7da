"""Requests as plain data; malformed ones are None."""

from __future__ import annotations

import time

import pytest

from appliance.page.http_server import MOST_HEAD
from appliance.page.requests import FORM, MOST_COOKIE, MOST_FIELDS, Request, parse_words


def test_a_form_has_each_field_once() -> None:
    request = Request("POST", "/", {"content-type": f"{FORM}; charset=UTF-8"}, {}, b"a=1&b=%C3%BC")
    assert request.form() == {"a": "1", "b": "ü"}


@pytest.mark.parametrize(
    "body", [b"a=1&a=2", b"a", b"\xff=1", b"a=%ff", b"&".join([b"a%d=1" % n for n in range(99)])]
)
def test_an_invalid_form_is_none(body: bytes) -> None:
    assert Request("POST", "/", {"content-type": FORM}, {}, body).form() is None


def test_another_content_type_is_not_a_form() -> None:
    assert Request("POST", "/", {"content-type": "text/plain"}, {}, b"a=1").form() is None
    assert Request("POST", "/", {}, {}, b"a=1").form() is None


def test_a_query_may_be_empty_and_its_fields_are_limited() -> None:
    assert parse_words("") == {}
    assert len(parse_words("&".join(f"f{n}=1" for n in range(MOST_FIELDS)))) == MOST_FIELDS
    with pytest.raises(ValueError, match="fields"):
        parse_words("&".join(f"f{n}=1" for n in range(MOST_FIELDS + 1)))


@pytest.mark.parametrize(
    ("cookies", "value"),
    [("a=1; interlude=x", "x"), ("interlude=", ""), ("", ""), ("interlude", ""), ("\x00=;;=", "")],
)
def test_a_cookie_is_found_by_its_name(cookies: str, value: str) -> None:
    assert Request("GET", "/", {"cookie": cookies}).cookie("interlude") == value


@pytest.mark.parametrize("cookies", ["xinterlude=1; interlude=2", "a=interlude=1; interlude=2"])
def test_a_cookie_with_a_similar_name_is_another_one(cookies: str) -> None:
    assert Request("GET", "/", {"cookie": cookies}).cookie("interlude") == "2"


def test_a_cookie_over_a_kilobyte_is_refused() -> None:
    for length, found in ((MOST_COOKIE, MOST_COOKIE), (MOST_COOKIE + 1, 0)):
        cookies = {"cookie": "interlude=" + "x" * length}
        assert len(Request("GET", "/", cookies).cookie("interlude")) == found


@pytest.mark.parametrize("piece", ["\\", '"\\', ";", "=", "; ", "interlude", "\\073"])
def test_a_hostile_cookie_header_costs_no_time(piece: str) -> None:
    """The longest that the server accepts. The time is of a processor, so that others do not
    count: http.cookies took 2.4 s for one of them."""
    cookies = {"cookie": 'a="' + piece * (MOST_HEAD // len(piece)) + '"'}
    began_s = time.thread_time()
    for _ in range(10):
        Request("GET", "/", cookies).cookie("interlude")
    assert time.thread_time() - began_s < 0.3
