"""Requests as plain data; malformed ones are None."""

from __future__ import annotations

import pytest

from appliance.page.requests import FORM, MOST_FIELDS, Request, parse_words


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
