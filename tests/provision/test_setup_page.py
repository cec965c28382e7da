"""The set-up page: what is typed there is a stranger's, until it has been checked."""

from __future__ import annotations

import http.client
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints
from urllib.parse import urlencode

import msgspec
import pytest

from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.setup_page import FORM, MOST_BYTES, MOST_TRIES, SetupPage
from appliance.provision.setup_server import (
    CONNECTION_S,
    MOST_CONNECTIONS,
    OPEN,
    SetupAccess,
    server,
)
from appliance.provision.submitted_form import (
    FILE,
    SubmittedForm,
    last_used_ns,
    pop_form,
    submit,
)

PLACE = "10.42.0.1"
TYPED_WELL = {"wifi": "Home & garden", "password": "correct horse", "country": "de", "hostname": "",
              "broker": "homeassistant.local", "user": "interlude", "secret": 'p"\\s',
              "mode": "wake_word", "model": "gemma-4-e2b", "card": "plughw:CARD=Jabra",
              "panel": "header"}  # fmt: skip
MEANT = Seed(
    wifi=WifiNetwork(b"Home & garden", "correct horse"), country="DE", broker="homeassistant.local",
    user="interlude", password='p"\\s', mode="wake_word", model="gemma-4-e2b",
    card="plughw:CARD=Jabra", panel="header",
)  # fmt: skip


@pytest.fixture
def taken() -> list[Seed]:
    return []


@pytest.fixture
def page(taken: list[Seed]) -> SetupPage:
    return SetupPage(PLACE, taken.append, ("Home & garden", "<script>"))


def headers(**other: str) -> dict[str, str]:
    return {"Host": PLACE, "Content-Type": FORM, "Origin": f"http://{PLACE}", **other}


def body(page: SetupPage, **other: str) -> bytes:
    return urlencode({"token": page.token, **TYPED_WELL, **other}).encode()


def test_what_is_typed_becomes_a_seed(page: SetupPage, taken: list[Seed]) -> None:
    reply = page.post(headers(), body(page), 0.0)
    assert reply.status == 200
    assert taken == [MEANT]
    assert "Home &amp; garden" in reply.body


def test_the_seed_comes_through_the_file_as_it_was(tmp_path: Path) -> None:
    submit(tmp_path, MEANT)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    taken = pop_form(tmp_path, os.geteuid())
    assert taken is not None
    check(taken)
    assert taken == MEANT
    assert pop_form(tmp_path, os.geteuid()) is None


def test_every_field_of_the_page_is_one_that_root_takes(page: SetupPage) -> None:
    shown = page.get("/", PLACE).body
    fields = set(re.findall(r'<(?:input|select)[^>]* name="(\w+)"', shown)) - {"token"}
    fields |= set(re.findall(r'<select name="(\w+)"', shown))
    assert fields == set(SubmittedForm.__struct_fields__)
    offered = re.findall(r'<option value="([^"]*)">', shown.partition('name="model"')[2])
    assert tuple(offered) == get_args(get_type_hints(SubmittedForm)["model"])


def test_the_form_shows_the_names_in_reach_and_nothing_of_them_runs(page: SetupPage) -> None:
    shown = page.get("/", PLACE).body
    assert "required" in shown
    assert "Home &amp; garden" in shown
    assert "<script>" not in shown
    assert page.token in shown


# What phones and computers ask by http, to see whether the world is there, and what they expect.
PROBES = (
    ("connectivitycheck.gstatic.com", "/generate_204", "204"),  # Android, ChromeOS
    ("www.google.com", "/gen_204", "204"),
    ("captive.apple.com", "/hotspot-detect.html", "Success"),  # iOS, macOS
    ("captive.apple.com", "/", "Success"),
    ("www.apple.com", "/library/test/success.html", "Success"),
    ("www.msftconnecttest.com", "/connecttest.txt", "Microsoft Connect Test"),  # Windows 10, 11
    ("www.msftncsi.com", "/ncsi.txt", "Microsoft NCSI"),
    ("detectportal.firefox.com", "/canonical.html", "success"),
    ("detectportal.firefox.com", "/success.txt", "success"),
    ("nmcheck.gnome.org", "/check_network_status.txt", "NetworkManager is online"),
)


@pytest.mark.parametrize(("host", "path", "wanted"), PROBES)
def test_what_looks_for_the_world_is_led_to_the_form(
    page: SetupPage, host: str, path: str, wanted: str
) -> None:
    reply = page.get(path, host)
    assert (reply.status, reply.to) == (302, f"http://{PLACE}/")
    assert wanted not in (str(reply.status), reply.body)


@pytest.mark.parametrize("path", ["/favicon.ico", "/../etc/passwd", "//", "http://10.42.0.1/"])
def test_every_other_page_leads_to_the_form(page: SetupPage, path: str) -> None:
    assert (page.get(path, PLACE).status, page.get(path, PLACE).to) == (302, f"http://{PLACE}/")


def test_another_hosts_page_has_no_form_which_could_not_be_sent(page: SetupPage) -> None:
    assert page.get("/", "example.com").to == f"http://{PLACE}/"
    assert page.get("/", "").to == f"http://{PLACE}/"


def test_beside_a_cable_a_wifi_may_stay_empty_and_something_is_typed(taken: list[Seed]) -> None:
    page = SetupPage(PLACE, taken.append, cable=True)
    assert "required" not in page.get("/", PLACE).body
    empty = urlencode({"token": page.token, **dict.fromkeys(TYPED_WELL, "")}).encode()
    reply = page.post(headers(), empty, 0.0)
    assert (reply.status, taken) == (400, [])
    assert "Nothing was typed" in reply.body
    assert page.post(headers(), body(page, wifi="", password=""), 0.0).status == 200
    assert taken[0].wifi is None


@pytest.mark.parametrize(
    ("other", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_another_pages_form_is_refused(
    page: SetupPage, taken: list[Seed], other: dict[str, str], status: int
) -> None:
    assert page.post(headers(**other), body(page), 0.0).status == status
    assert taken == []


@pytest.mark.parametrize("token", ["", "guessed", "ümlaut"])
def test_nothing_is_taken_without_the_pages_token(
    page: SetupPage, taken: list[Seed], token: str
) -> None:
    assert page.post(headers(), body(page, token=token), 0.0).status == 403
    assert taken == []


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"wifi": ""}, "name is missing"),
        ({"wifi": "x" * 33}, "1 to 32"),
        ({"password": "short"}, "8 to 63"),
        ({"country": "Germany"}, "no country"),
        ({"hostname": "a b"}, "no host name"),
        ({"broker": "a;b"}, "no broker"),
        ({"mode": "loud"}, "no mode"),
        ({"model": "../../x"}, "no model"),
        ({"root": "yes"}, "does not ask for"),
        ({"hostname": '"><script>alert(1)</script>'}, "no host name"),
    ],
)
def test_what_is_wrong_is_said_on_the_page_and_not_taken(
    page: SetupPage, taken: list[Seed], other: dict[str, str], why: str
) -> None:
    reply = page.post(headers(), body(page, **other), 0.0)
    assert reply.status == 400
    assert why in reply.body
    assert "<script>alert" not in reply.body
    assert taken == []


@pytest.mark.parametrize("raw", [b"", b"%zz", b"\xff", b"wifi=a&wifi=b", b"a=" + b"b" * MOST_BYTES])
def test_bytes_that_are_no_form_are_refused(page: SetupPage, taken: list[Seed], raw: bytes) -> None:
    assert page.post(headers(), raw, 0.0).status in (400, 403, 413)
    assert taken == []


def test_a_token_cannot_be_tried_without_end(page: SetupPage) -> None:
    found = [page.post(headers(), body(page, token="x"), at * 0.1).status for at in range(40)]
    assert found.count(403) == MOST_TRIES + 1  # and one more in these 4 s
    assert found[-1] == 429
    assert page.post(headers(), body(page), 100.0).status == 200


# ── over a socket ────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """The page on a port of this machine."""
    said = SetupAccess("127.0.0.1", 0)
    (tmp_path / OPEN).write_bytes(msgspec.json.encode(said))
    made = server(tmp_path, said, tmp_path)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield tmp_path, made.server_address[1]
    made.shutdown()
    thread.join()
    made.server_close()


def ask(
    port: int, method: str, head: dict[str, str] | None = None
) -> tuple[int, dict[str, str], str]:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    line.request(method, "/", b"", head or {})
    reply = line.getresponse()
    return reply.status, dict(reply.getheaders()), reply.read().decode()


def test_the_page_is_served_with_headers_that_allow_nothing(served: tuple[Path, int]) -> None:
    status, head, shown = ask(served[1], "GET")
    assert status == 200
    assert "<form" in shown
    assert "default-src 'none'" in head["Content-Security-Policy"]
    assert head["X-Frame-Options"] == "DENY"
    assert "Python" not in head["Server"]


def test_the_last_problem_is_on_it(served: tuple[Path, int]) -> None:
    folder, port = served
    (folder / "problem").write_text("The Wi-Fi did not let me in.")
    assert "did not let me in" in ask(port, "GET")[2]


@pytest.mark.parametrize("length", ["-1", "x", str(MOST_BYTES + 1), ""])
def test_a_length_that_is_none_or_too_large_is_refused_unread(
    served: tuple[Path, int], length: str
) -> None:
    head = {"Content-Length": length, "Content-Type": FORM}
    assert ask(served[1], "POST", head)[0] == 413


def test_silent_connections_keep_nobody_from_the_page(served: tuple[Path, int]) -> None:
    """A browser opens some ahead; each would have taken its 5 s while the others waited."""
    silent = [socket.create_connection(("127.0.0.1", served[1])) for _ in range(4)]
    try:
        begun_s = time.monotonic()
        assert ask(served[1], "GET")[0] == 200
        assert time.monotonic() - begun_s < CONNECTION_S
    finally:
        for each in silent:
            each.close()


def test_no_more_connections_are_held_than_there_is_room_for(served: tuple[Path, int]) -> None:
    silent = [socket.create_connection(("127.0.0.1", served[1])) for _ in range(MOST_CONNECTIONS)]
    try:
        with pytest.raises((http.client.HTTPException, OSError)):
            ask(served[1], "GET")
    finally:
        for each in silent:
            each.close()
    limit_s = time.monotonic() + 20
    while True:
        try:
            assert ask(served[1], "GET")[0] == 200
        except (http.client.HTTPException, OSError):
            assert time.monotonic() < limit_s
        else:
            return


def test_the_form_is_a_use_of_the_page_and_a_phones_look_for_the_world_is_none(
    served: tuple[Path, int],
) -> None:
    folder, port = served
    assert ask(port, "GET", {"Host": "captive.apple.com"})[0] == 302
    assert last_used_ns(folder) is None
    assert ask(port, "GET")[0] == 200
    first = last_used_ns(folder)
    assert first is not None
    limit_s = time.monotonic() + 20
    while last_used_ns(folder) == first:  # the clock of files has a grain of some ms
        assert ask(port, "POST", {"Content-Length": "0", "Content-Type": FORM})[0] != 302
        assert time.monotonic() < limit_s


def test_another_method_is_refused(served: tuple[Path, int]) -> None:
    assert ask(served[1], "DELETE")[0] == 501
