"""The set-up page: its input is untrusted until it has been checked."""

from __future__ import annotations

import re
from typing import get_args, get_type_hints
from urllib.parse import urlencode

import pytest

from appliance.language.catalogue import languages
from appliance.page.requests import FORM, Reply, Request
from appliance.provision.seed import Seed
from appliance.provision.setup_site import MOST_BYTES, MOST_TRIES, SetupSite
from appliance.provision.submitted_form import (
    SubmittedForm,
)
from tests.provision.seeds import MEANT

PLACE = "10.42.0.1"
TYPED_WELL = {"wifi": "Home & garden", "password": "correct horse", "country": "de", "hostname": "",
              "broker": "homeassistant.local", "user": "interlude", "secret": 'p"\\s',
              "mode": "wake_word", "model": "gemma-4-e2b", "card": "plughw:CARD=Jabra",
              "panel": "header", "language": "de"}  # fmt: skip


class Phone:
    """A phone that joined the access point of the box. `taken`: the accepted seeds. `used`: how
    often the page counted a use."""

    def __init__(self, *, cable: bool = False, language: str = "en") -> None:
        self.taken: list[Seed] = []
        self.now_s, self.used, self.problem = 1000.0, 0, ""
        self.site = SetupSite(
            PLACE, self.taken.append, lambda: self.now_s, ("Home & garden", "<script>"),
            cable=cable, language=language, problem=lambda: self.problem, used=self._use,
        )  # fmt: skip

    def _use(self) -> None:
        self.used += 1

    def get(self, path: str = "/", host: str = PLACE, **headers: str) -> Reply:
        fields = {"host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
        return self.site.answer(Request("GET", path, fields))

    def text(self, **headers: str) -> str:
        return self.get(**headers).body.decode()

    def post(self, body: bytes, **headers: str) -> Reply:
        fields = {"host": PLACE, "content-type": FORM, "origin": f"http://{PLACE}"}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.site.answer(Request("POST", "/", fields, body=body))

    def type(self, **other: str) -> Reply:
        return self.post(urlencode({"token": self.site.token, **TYPED_WELL, **other}).encode())


@pytest.fixture
def phone() -> Phone:
    return Phone()


def place_of(reply: Reply) -> str:
    return dict(reply.headers).get("Location", "")


def test_a_submitted_form_becomes_a_seed(phone: Phone) -> None:
    reply = phone.type()
    assert reply.status == 200
    assert phone.taken == [MEANT]
    assert "Home &amp; garden" in reply.body.decode()


def test_the_fields_of_the_form_are_those_that_root_accepts(phone: Phone) -> None:
    shown = phone.text()
    fields = set(re.findall(r'<(?:input|select)[^>]* name="(\w+)"', shown)) - {"token"}
    assert fields == set(SubmittedForm.__struct_fields__)
    offered = re.findall(
        r'<option value="([^"]*)"', shown.partition('name="model"')[2].partition("</select>")[0]
    )
    assert tuple(offered) == get_args(get_type_hints(SubmittedForm)["model"])


def test_the_form_lists_the_networks_in_reach_with_escaped_names(phone: Phone) -> None:
    shown = phone.text()
    assert "required" in shown
    assert "Home &amp; garden" in shown
    assert "<script" not in shown
    assert phone.site.token in shown


def test_the_last_problem_is_shown_on_the_page(phone: Phone) -> None:
    phone.problem = "The Wi-Fi <Home> did not let me in."
    assert "The Wi-Fi &lt;Home&gt; did not let me in." in phone.text()


def test_the_page_has_its_stylesheet_and_links_to_no_page_of_the_box(phone: Phone) -> None:
    assert 'href="/static/page.css"' in phone.text()
    assert phone.get("/static/page.css").status == 200
    assert "<nav" not in phone.text()
    for path in ("/pair", "/own", "/access", "/events"):
        assert place_of(phone.get(path)) == f"http://{PLACE}/"


def test_loading_the_form_counts_as_a_use_and_a_connectivity_check_does_not(phone: Phone) -> None:
    phone.get("/generate_204", "connectivitycheck.gstatic.com")
    phone.get("/static/page.css")
    assert phone.used == 0
    phone.get()
    assert phone.used == 1
    phone.post(b"")
    assert phone.used == 2


# The connectivity checks of phones and computers over http, and the answers that they expect.
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


@pytest.mark.parametrize(("host", "path", "expected"), PROBES)
def test_a_connectivity_check_is_redirected_to_the_form(
    phone: Phone, host: str, path: str, expected: str
) -> None:
    reply = phone.get(path, host)
    assert (reply.status, place_of(reply)) == (302, f"http://{PLACE}/")
    assert expected not in (str(reply.status), reply.body.decode())


@pytest.mark.parametrize("path", ["/favicon.ico", "/../etc/passwd", "//", "http://10.42.0.1/"])
def test_every_other_path_is_redirected_to_the_form(phone: Phone, path: str) -> None:
    reply = phone.get(path)
    assert (reply.status, place_of(reply)) == (302, f"http://{PLACE}/")


def test_another_host_name_is_redirected_to_the_form(phone: Phone) -> None:
    assert place_of(phone.get("/", "example.com")) == f"http://{PLACE}/"
    assert place_of(phone.get("/", "")) == f"http://{PLACE}/"


def test_on_a_cable_the_wifi_may_be_empty_but_not_the_whole_form() -> None:
    phone = Phone(cable=True)
    assert "required" not in phone.text()
    empty = urlencode({"token": phone.site.token, **dict.fromkeys(TYPED_WELL, "")}).encode()
    reply = phone.post(empty)
    assert (reply.status, phone.taken) == (400, [])
    assert "Nothing was typed" in reply.body.decode()
    assert phone.type(wifi="", password="").status == 200
    assert phone.taken[0].wifi is None


@pytest.mark.parametrize(
    ("other", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "evil.example", "origin": "http://evil.example"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": f"https://{PLACE}"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"content_type": "text/plain"}, 415),
    ],
)
def test_a_cross_site_form_is_refused(phone: Phone, other: dict[str, str], status: int) -> None:
    body = urlencode({"token": phone.site.token, **TYPED_WELL}).encode()
    assert phone.post(body, **other).status == status
    assert phone.taken == []


@pytest.mark.parametrize("token", ["", "guessed", "ümlaut"])
def test_a_form_without_the_token_of_the_page_is_refused(phone: Phone, token: str) -> None:
    assert phone.type(token=token).status == 403
    assert phone.taken == []


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"wifi": ""}, "name is missing"),
        ({"wifi": "x" * 33}, "1 to 32"),
        ({"password": "short"}, "8 to 63"),
        ({"country": "Germany"}, "not a country"),
        ({"hostname": "a b"}, "not a host name"),
        ({"broker": "a;b"}, "not a broker"),
        ({"mode": "loud"}, "no mode"),
        ({"model": "../../x"}, "no model"),
        ({"root": "yes"}, "does not ask for"),
        ({"hostname": '"><script>alert(1)</script>'}, "not a host name"),
    ],
)
def test_an_invalid_value_is_explained_on_the_page_and_not_accepted(
    phone: Phone, other: dict[str, str], why: str
) -> None:
    reply = phone.type(**other)
    assert reply.status == 400
    assert why in reply.body.decode()
    assert "<script>alert" not in reply.body.decode()
    assert phone.taken == []


def test_an_invalid_form_keeps_its_values_except_passwords(phone: Phone) -> None:
    shown = phone.type(country="Germany").body.decode()
    assert 'value="Home &amp; garden"' in shown
    assert 'value="homeassistant.local"' in shown
    assert '<option value="wake_word" selected>' in shown
    for secret in ("correct horse", "p&#34;\\s"):
        assert secret not in shown


@pytest.mark.parametrize("raw", [b"", b"%zz", b"\xff", b"wifi=a&wifi=b", b"a=" + b"b" * MOST_BYTES])
def test_bytes_that_are_no_form_are_refused(phone: Phone, raw: bytes) -> None:
    assert phone.post(raw).status in (400, 403, 413, 415)
    assert phone.taken == []


@pytest.mark.parametrize("method", ["DELETE", "PUT", "OPTIONS"])
def test_another_method_is_refused(phone: Phone, method: str) -> None:
    assert phone.site.answer(Request(method, "/", {"host": PLACE})).status == 405


def test_the_rate_of_attempts_with_a_wrong_token_is_limited(phone: Phone) -> None:
    found = []
    for _ in range(40):
        found.append(phone.type(token="x").status)
        phone.now_s += 0.1
    assert found.count(403) == MOST_TRIES + 1  # one more is allowed in these 4 s
    assert found[-1] == 429
    phone.now_s += 60
    assert phone.type().status == 200


@pytest.mark.parametrize("phone", [Phone(language="de"), Phone()])
def test_a_german_page_has_no_english_label(phone: Phone) -> None:
    headers = {} if phone.site.language == "de" else {"accept_language": "de-CH,en;q=0.5"}
    shown = phone.text(**headers)
    assert '<html lang="de">' in shown
    assert "Dein WLAN" in shown
    labels = set(re.findall(r"<label>([^<]+)<", shown))
    english_labels = set(re.findall(r"<label>([^<]+)<", Phone().text()))
    assert len(labels) == len(english_labels) > 10
    assert labels & english_labels == set()


def test_the_language_of_the_phone_has_precedence_over_that_of_the_box() -> None:
    shown = Phone(language="de").text(accept_language="en-GB")
    assert '<html lang="en">' in shown


def test_the_form_offers_every_language_of_the_catalogues(phone: Phone) -> None:
    shown = phone.text().partition('name="language"')[2].partition("</select>")[0]
    assert re.findall(r'<option value="([^"]*)"', shown) == ["", "auto", *languages()]


def test_an_unknown_language_is_refused(phone: Phone) -> None:
    assert phone.type(language="klingon").status == 400
    assert phone.taken == []


def test_the_page_has_one_heading_and_a_label_for_every_field(phone: Phone) -> None:
    shown = phone.text()
    assert len(re.findall(r"<h1", shown)) == 1
    for found in re.finditer(r'<(?:input|select)(?![^>]*type="hidden")[^>]*>', shown):
        before = shown[: found.start()]
        assert before.rfind("<label") > before.rfind("</label>")


def test_an_invalid_value_is_explained_in_the_language_of_the_phone(phone: Phone) -> None:
    typed = urlencode({"token": phone.site.token, **TYPED_WELL, "hostname": "my kitchen"}).encode()
    shown = phone.post(typed, accept_language="de").body.decode()
    assert "„my kitchen“ ist kein Name für das Gerät." in shown
    assert "host name" not in shown
    assert "is not a host name" in phone.post(typed).body.decode()
    broken = phone.post(b"wifi=a&wifi=b", accept_language="de")
    assert (broken.status, "nicht vollständig" in broken.body.decode()) == (400, True)
