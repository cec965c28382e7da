"""The set-up page: what is typed there is a stranger's, until it has been checked."""

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
    """One that joined the box's Wi-Fi. `taken`: what the site found good; `used`: how often
    somebody had the form."""

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
        said = {"host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
        return self.site.answer(Request("GET", path, said))

    def text(self, **headers: str) -> str:
        return self.get(**headers).body.decode()

    def post(self, body: bytes, **headers: str) -> Reply:
        said = {"host": PLACE, "content-type": FORM, "origin": f"http://{PLACE}"}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.site.answer(Request("POST", "/", said, body=body))

    def type(self, **other: str) -> Reply:
        return self.post(urlencode({"token": self.site.token, **TYPED_WELL, **other}).encode())


@pytest.fixture
def phone() -> Phone:
    return Phone()


def place_of(reply: Reply) -> str:
    return dict(reply.headers).get("Location", "")


def test_what_is_typed_becomes_a_seed(phone: Phone) -> None:
    reply = phone.type()
    assert reply.status == 200
    assert phone.taken == [MEANT]
    assert "Home &amp; garden" in reply.body.decode()


def test_every_field_of_the_page_is_one_that_root_takes(phone: Phone) -> None:
    shown = phone.text()
    fields = set(re.findall(r'<(?:input|select)[^>]* name="(\w+)"', shown)) - {"token"}
    assert fields == set(SubmittedForm.__struct_fields__)
    offered = re.findall(
        r'<option value="([^"]*)"', shown.partition('name="model"')[2].partition("</select>")[0]
    )
    assert tuple(offered) == get_args(get_type_hints(SubmittedForm)["model"])


def test_the_form_shows_the_names_in_reach_and_nothing_of_them_runs(phone: Phone) -> None:
    shown = phone.text()
    assert "required" in shown
    assert "Home &amp; garden" in shown
    assert "<script" not in shown
    assert phone.site.token in shown


def test_the_last_problem_is_on_it(phone: Phone) -> None:
    phone.problem = "The Wi-Fi <Home> did not let me in."
    assert "The Wi-Fi &lt;Home&gt; did not let me in." in phone.text()


def test_it_has_the_pages_own_style_and_shows_nothing_of_the_box(phone: Phone) -> None:
    assert 'href="/static/page.css"' in phone.text()
    assert phone.get("/static/page.css").status == 200
    assert "<nav" not in phone.text()
    for path in ("/pair", "/own", "/access", "/events"):
        assert place_of(phone.get(path)) == f"http://{PLACE}/"


def test_the_form_is_a_use_and_a_phones_look_for_the_world_is_none(phone: Phone) -> None:
    phone.get("/generate_204", "connectivitycheck.gstatic.com")
    phone.get("/static/page.css")
    assert phone.used == 0
    phone.get()
    assert phone.used == 1
    phone.post(b"")
    assert phone.used == 2


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
    phone: Phone, host: str, path: str, wanted: str
) -> None:
    reply = phone.get(path, host)
    assert (reply.status, place_of(reply)) == (302, f"http://{PLACE}/")
    assert wanted not in (str(reply.status), reply.body.decode())


@pytest.mark.parametrize("path", ["/favicon.ico", "/../etc/passwd", "//", "http://10.42.0.1/"])
def test_every_other_page_leads_to_the_form(phone: Phone, path: str) -> None:
    reply = phone.get(path)
    assert (reply.status, place_of(reply)) == (302, f"http://{PLACE}/")


def test_another_hosts_page_has_no_form_which_could_not_be_sent(phone: Phone) -> None:
    assert place_of(phone.get("/", "example.com")) == f"http://{PLACE}/"
    assert place_of(phone.get("/", "")) == f"http://{PLACE}/"


def test_beside_a_cable_a_wifi_may_stay_empty_and_something_is_typed() -> None:
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
def test_another_pages_form_is_refused(phone: Phone, other: dict[str, str], status: int) -> None:
    body = urlencode({"token": phone.site.token, **TYPED_WELL}).encode()
    assert phone.post(body, **other).status == status
    assert phone.taken == []


@pytest.mark.parametrize("token", ["", "guessed", "ümlaut"])
def test_nothing_is_taken_without_the_pages_token(phone: Phone, token: str) -> None:
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
def test_what_is_wrong_is_said_on_the_page_and_not_taken(
    phone: Phone, other: dict[str, str], why: str
) -> None:
    reply = phone.type(**other)
    assert reply.status == 400
    assert why in reply.body.decode()
    assert "<script>alert" not in reply.body.decode()
    assert phone.taken == []


def test_what_was_typed_stays_there_to_be_mended_but_for_passwords(phone: Phone) -> None:
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


def test_a_token_cannot_be_tried_without_end(phone: Phone) -> None:
    found = []
    for _ in range(40):
        found.append(phone.type(token="x").status)
        phone.now_s += 0.1
    assert found.count(403) == MOST_TRIES + 1  # and one more in these 4 s
    assert found[-1] == 429
    phone.now_s += 60
    assert phone.type().status == 200


@pytest.mark.parametrize("phone", [Phone(language="de"), Phone()])
def test_a_page_in_german_has_no_english_label(phone: Phone) -> None:
    wanted = {} if phone.site.language == "de" else {"accept_language": "de-CH,en;q=0.5"}
    shown = phone.text(**wanted)
    assert '<html lang="de">' in shown
    assert "Dein WLAN" in shown
    labels = set(re.findall(r"<label>([^<]+)<", shown))
    english_labels = set(re.findall(r"<label>([^<]+)<", Phone().text()))
    assert len(labels) == len(english_labels) > 10
    assert labels & english_labels == set()


def test_a_phone_that_wants_english_gets_it_of_a_german_box() -> None:
    shown = Phone(language="de").text(accept_language="en-GB")
    assert '<html lang="en">' in shown


def test_the_page_offers_every_language_that_the_box_speaks_by_itself(phone: Phone) -> None:
    shown = phone.text().partition('name="language"')[2].partition("</select>")[0]
    assert re.findall(r'<option value="([^"]*)"', shown) == ["", "auto", *languages()]


def test_a_language_that_is_none_is_refused(phone: Phone) -> None:
    assert phone.type(language="klingon").status == 400
    assert phone.taken == []


def test_the_page_has_one_title_and_a_name_for_every_field(phone: Phone) -> None:
    shown = phone.text()
    assert len(re.findall(r"<h1", shown)) == 1
    for found in re.finditer(r'<(?:input|select)(?![^>]*type="hidden")[^>]*>', shown):
        before = shown[: found.start()]
        assert before.rfind("<label") > before.rfind("</label>")


def test_what_was_typed_wrong_is_told_in_the_phones_language(phone: Phone) -> None:
    typed = urlencode({"token": phone.site.token, **TYPED_WELL, "hostname": "my kitchen"}).encode()
    shown = phone.post(typed, accept_language="de").body.decode()
    assert "„my kitchen“ ist kein Name für das Gerät." in shown
    assert "host name" not in shown
    assert "is not a host name" in phone.post(typed).body.decode()
    broken = phone.post(b"wifi=a&wifi=b", accept_language="de")
    assert (broken.status, "nicht vollständig" in broken.body.decode()) == (400, True)
