"""Names under which the box is asked for, and forms of its own."""

from __future__ import annotations

import pytest

from appliance.page.hosts import is_own_fetch, is_own_host, is_own_origin


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("kitchen", 80), ("kitchen.local", 80), ("Kitchen.LOCAL.", 80), ("kitchen.local:80", 80),
        ("kitchen.local:8080", 8080), ("kitchen-2.local", 80), ("kitchen.home.arpa", 80),
        ("192.168.1.7", 80), ("[fe80::1]", 80), ("[fd00::1]:8080", 8080), ("localhost:8080", 8080),
    ],
)  # fmt: skip
def test_these_name_the_box(host: str, port: int) -> None:
    assert is_own_host(host, "kitchen", port)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("", 80), ("evil.example", 80), ("kitchen.evil.example", 80), ("kitchen.com", 80),
        ("kitchen.local.evil.example", 80), ("kitchen.local:81", 80), ("kitchen.local", 8080),
        ("kitchenx.local", 80), ("kitchen-evil.local", 80), ("local", 80), ("kitchen..local", 80),
        ("a@192.168.1.7", 80), ("192.168.1.7.evil.example", 80), ("kitchen.local:99999999", 80),
        ("kitchen.local:", 80), ("kitchen.local/", 80), ("ki*chen", 80), ("\x00", 80),
    ],
)  # fmt: skip
def test_these_do_not(host: str, port: int) -> None:
    assert not is_own_host(host, "kitchen", port)


CERTIFIED = ("box.example.org", "Old.Example.org", "*.home.example", "*.local.evil", "192.168.1.7")


@pytest.mark.parametrize(
    "host", ["box.example.org", "BOX.example.org.", "box.example.org:443", "old.example.org",
             "kitchen.home.example", "kitchen-2.home.example", "kitchen.local"],
)  # fmt: skip
def test_these_name_a_box_with_a_certificate_for_them(host: str) -> None:
    assert is_own_host(host, "kitchen", 443, "https", CERTIFIED)


@pytest.mark.parametrize(
    "host", ["example.org", "a.box.example.org", "evil.example", "other.home.example",
             "a.kitchen.home.example", "home.example", "*.home.example", "box.example.org:80"],
)  # fmt: skip
def test_these_do_not_name_it(host: str) -> None:
    assert not is_own_host(host, "kitchen", 443, "https", CERTIFIED)


def test_a_name_with_marks_of_a_pattern_is_a_name() -> None:
    assert not is_own_host("kxtchen.local", "k.tchen", 80)


def test_a_form_is_the_boxes_own_only_with_the_host_as_its_origin() -> None:
    own = {"host": "kitchen.local", "origin": "http://kitchen.local"}
    assert is_own_origin(own)
    assert is_own_origin({"host": "kitchen.local:8080", "origin": "http://Kitchen.local:8080"})
    for wrong in ("", "null", "http://evil.example", "http://kitchen.local:8080", "kitchen.local"):
        assert not is_own_origin(own | {"origin": wrong})
    assert not is_own_origin({"host": "kitchen.local"})


def test_what_another_site_made_the_browser_read_is_not_answered() -> None:
    assert is_own_fetch({})
    assert is_own_fetch({"sec-fetch-site": "same-origin"})
    for wrong in ("cross-site", "same-site", ""):
        assert not is_own_fetch({"sec-fetch-site": wrong})
