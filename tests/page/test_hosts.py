"""Host names that the box answers to, and forms of its own origin."""

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
def test_the_boxs_names_and_addresses_are_accepted_as_host(host: str, port: int) -> None:
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
def test_other_names_are_refused_as_host(host: str, port: int) -> None:
    assert not is_own_host(host, "kitchen", port)


CERTIFIED = ("box.example.org", "Old.Example.org", "*.home.example", "*.local.evil", "192.168.1.7")


@pytest.mark.parametrize(
    "host", ["box.example.org", "BOX.example.org.", "box.example.org:443", "old.example.org",
             "kitchen.home.example", "kitchen-2.home.example", "kitchen.local"],
)  # fmt: skip
def test_the_names_of_the_certificate_are_accepted_as_host(host: str) -> None:
    assert is_own_host(host, "kitchen", 443, "https", CERTIFIED)


@pytest.mark.parametrize(
    "host", ["example.org", "a.box.example.org", "evil.example", "other.home.example",
             "a.kitchen.home.example", "home.example", "*.home.example", "box.example.org:80"],
)  # fmt: skip
def test_names_outside_the_certificate_are_refused_as_host(host: str) -> None:
    assert not is_own_host(host, "kitchen", 443, "https", CERTIFIED)


def test_a_name_with_pattern_characters_is_matched_literally() -> None:
    assert not is_own_host("kxtchen.local", "k.tchen", 80)


def test_a_form_is_accepted_only_with_the_host_as_its_origin() -> None:
    own = {"host": "kitchen.local", "origin": "http://kitchen.local"}
    assert is_own_origin(own)
    assert is_own_origin({"host": "kitchen.local:8080", "origin": "http://Kitchen.local:8080"})
    for wrong in ("", "null", "http://evil.example", "http://kitchen.local:8080", "kitchen.local"):
        assert not is_own_origin(own | {"origin": wrong})
    assert not is_own_origin({"host": "kitchen.local"})


def test_a_cross_site_read_is_refused() -> None:
    assert is_own_fetch({})
    assert is_own_fetch({"sec-fetch-site": "same-origin"})
    for wrong in ("cross-site", "same-site", ""):
        assert not is_own_fetch({"sec-fetch-site": wrong})
