"""Plain HTTP beside a certificate: a read is redirected to HTTPS, a form is refused."""

from __future__ import annotations

import pytest

from appliance.page.redirect import RedirectSite
from appliance.page.requests import Request


def ask(host: str, path: str = "/", method: str = "GET", port: int = 443) -> tuple[int, str]:
    site = RedirectSite("kitchen", 80, port, lambda: ("box.example.org",))
    reply = site.answer(Request(method, path, {"host": host}))
    return reply.status, dict(reply.headers).get("Location", "")


@pytest.mark.parametrize(
    ("host", "path", "place"),
    [
        ("kitchen.local", "/", "https://kitchen.local/"),
        ("kitchen.local:80", "/own", "https://kitchen.local/own"),
        ("192.168.1.7", "/", "https://192.168.1.7/"),
        ("box.example.org", "/own", "https://box.example.org/own"),
        ("[fd00::1]:80", "/", "https://[fd00::1]/"),
        ("kitchen.local", "/a\r\nX: y", "https://kitchen.local/a%0D%0AX%3A%20y"),
        ("kitchen.local", "//evil.example", "https://kitchen.local//evil.example"),
    ],
)
def test_a_read_is_redirected_to_the_same_path_over_https(host: str, path: str, place: str) -> None:
    assert ask(host, path) == (308, place)


def test_a_port_other_than_the_default_is_in_the_redirect() -> None:
    assert ask("kitchen.local", port=8443) == (308, "https://kitchen.local:8443/")


@pytest.mark.parametrize("host", ["evil.example", "a.box.example.org", "", "kitchen.local:81"])
def test_an_unknown_host_is_not_redirected(host: str) -> None:
    assert ask(host) == (421, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_form_is_refused_and_not_redirected(method: str) -> None:
    assert ask("kitchen.local", "/pair", method) == (403, "")
