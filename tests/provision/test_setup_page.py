"""The set-up page: what is typed there is a stranger's, until it has been checked."""

from __future__ import annotations

import re
from typing import get_args, get_type_hints
from urllib.parse import urlencode

import pytest

from appliance.language.catalogue import catalogue, languages
from appliance.provision.seed import Seed
from appliance.provision.setup_page import FORM, MOST_BYTES, MOST_TRIES, SetupPage
from appliance.provision.submitted_form import (
    SubmittedForm,
)
from tests.provision.seeds import MEANT

PLACE = "10.42.0.1"
TYPED_WELL = {"wifi": "Home & garden", "password": "correct horse", "country": "de", "hostname": "",
              "broker": "homeassistant.local", "user": "interlude", "secret": 'p"\\s',
              "mode": "wake_word", "model": "gemma-4-e2b", "card": "plughw:CARD=Jabra",
              "panel": "header", "language": "de"}  # fmt: skip


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


def test_a_page_in_german_has_no_english_label(taken: list[Seed]) -> None:
    shown = SetupPage(PLACE, taken.append, words=catalogue("de")).get("/", PLACE).body
    assert '<html lang="de">' in shown
    assert "Dein WLAN" in shown
    labels = set(re.findall(r"<label>([^<]+)<", shown))
    english_labels = set(
        re.findall(r"<label>([^<]+)<", SetupPage(PLACE, taken.append).get("/", PLACE).body)
    )
    assert labels & english_labels == set()


def test_the_page_offers_every_language_that_the_box_speaks_by_itself(page: SetupPage) -> None:
    shown = page.get("/", PLACE).body.partition('name="language"')[2].partition("</select>")[0]
    assert re.findall(r'<option value="([^"]*)">', shown) == ["", "auto", *languages()]


def test_a_language_that_is_none_is_refused(page: SetupPage, taken: list[Seed]) -> None:
    assert page.post(headers(), body(page, language="klingon"), 0.0).status == 400
    assert taken == []


def test_a_german_page_tells_in_german_what_was_typed_wrong(taken: list[Seed]) -> None:
    page = SetupPage(PLACE, taken.append, words=catalogue("de"))
    reply = page.post(headers(), body(page, hostname="my kitchen"), 0.0)
    assert (reply.status, taken) == (400, [])
    assert "„my kitchen“ ist kein Name für das Gerät." in reply.body
    assert "host name" not in reply.body
