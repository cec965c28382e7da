"""The page behind the owner's certificate, over real connections."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from appliance.page.certificate_watch import watch
from appliance.page.connection_places import MOST_OF_ONE
from appliance.page.live import Event
from appliance.page.redirect import RedirectSite
from appliance.page.requests import FORM
from appliance.settings import load
from tests.certificates import Authority
from tests.page.desk import CODE, Desk
from tests.page.served import Served, is_closed, served_desk
from tests.waiting import until

pytestmark = pytest.mark.process  # openssl(1) makes the certificates


@dataclass
class SecurePage:
    """`trust`: the browser's trusted CA file. `name`: the host name that it requests."""

    served: Served
    desk: Desk
    trust: ssl.SSLContext
    name: str = "interlude.local"

    def connect(self) -> ssl.SSLSocket:
        return self.trust.wrap_socket(self.served.connect(), server_hostname=self.name)

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> dict[str, str]:
        """The reply's headers, with its `status` and `body` added."""
        connection = http.client.HTTPConnection(self.name, self.served.port)
        connection.sock = self.connect()
        host = f"{self.name}:{self.served.port}"
        sent_headers = {"Host": host, "Origin": f"https://{host}", "Content-Type": FORM, **headers}
        connection.request(method, path, body, sent_headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return dict(reply.headers) | {"status": str(reply.status), "body": text}

    def pair(self) -> dict[str, str]:
        """Pair by the digits. The reply, as of `ask`."""
        asked = self.ask("POST", "/pair/code")
        assert asked["status"] == "303"
        cookie = asked["Set-Cookie"].partition(";")[0]
        return self.ask("POST", "/pair", urlencode({"code": CODE}), Cookie=cookie)


def secure_page(desk: Desk, files: tuple[Path, Path], trust: Path) -> SecurePage:
    told = {"page": {"certificate": str(files[0]), "key": str(files[1])}}
    watched = watch(load(None, told).page, 0.0)
    assert watched is not None
    desk.box.scheme, desk.box.certificate = "https", watched
    served = served_desk(desk, certificate=watched.served, request_s=2.0)
    return SecurePage(served, desk, ssl.create_default_context(cafile=str(trust)))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def page(desk: Desk, authority: Authority) -> Iterator[SecurePage]:
    made = secure_page(desk, authority.issue("interlude.local"), authority.certificate)
    yield made
    made.served.close()


def test_a_browser_that_trusts_the_authority_gets_the_page_with_hsts(
    page: SecurePage,
) -> None:
    reply = page.ask("GET", "/")
    assert (reply["status"], "<title>Interlude" in reply["body"]) == ("200", True)
    assert reply["Strict-Transport-Security"] == "max-age=604800"
    assert "not encrypted" not in reply["body"]


def test_a_self_signed_certificate_sends_no_hsts(desk: Desk, authority: Authority) -> None:
    files = authority.self_signed("interlude.local")
    page = secure_page(desk, files, files[0])
    try:
        reply = page.ask("GET", "/")
        assert reply["status"] == "200"
        assert "Strict-Transport-Security" not in reply
    finally:
        page.served.close()


def test_a_name_of_the_certificate_in_the_owners_domain_serves_the_page(
    desk: Desk, authority: Authority
) -> None:
    page = secure_page(desk, authority.issue("box.example.org"), authority.certificate)
    page.name = "box.example.org"
    redirect = Served(
        lambda port: RedirectSite("interlude", port, page.served.port, desk.box.certified)
    )
    try:
        reply = page.ask("GET", "/")
        assert (reply["status"], "<title>Interlude" in reply["body"]) == ("200", True)
        assert page.ask("POST", "/pair/code")["status"] == "303"
        assert page.ask("GET", "/", Host=f"evil.example:{page.served.port}")["status"] == "421"
        assert redirect.ask("GET", "/", Host=f"box.example.org:{redirect.port}")[0] == 308
        assert redirect.ask("GET", "/", Host=f"evil.example:{redirect.port}")[0] == 421
    finally:
        redirect.close()
        page.served.close()


def test_with_tls_the_cookie_is_secure(page: SecurePage) -> None:
    reply = page.pair()
    assert reply["status"] == "303"
    assert reply["Set-Cookie"].endswith("; HttpOnly; SameSite=Strict; Secure")


def test_without_tls_the_cookie_is_not_marked_secure(desk: Desk) -> None:
    desk.post("/pair/code")
    cookies = [
        value for name, value in desk.post("/pair", {"code": CODE}).headers if "Cook" in name
    ]
    assert cookies
    assert not any("Secure" in value for value in cookies)


def test_a_form_from_an_unencrypted_page_is_refused(page: SecurePage) -> None:
    origin = f"http://{page.served.host()}"
    assert page.ask("POST", "/pair/code", Origin=origin)["status"] == "403"
    assert page.desk.sent == []


def test_plain_http_on_the_tls_port_is_disconnected(page: SecurePage) -> None:
    with page.served.connect() as plain:
        plain.sendall(f"GET / HTTP/1.1\r\nHost: {page.served.host()}\r\n\r\n".encode())
        received = b""
        try:
            while piece := plain.recv(65_536):
                received += piece
        except ConnectionError:
            pass
    assert b"HTTP/1.1" not in received
    assert page.ask("GET", "/")["status"] == "200"


def test_a_client_without_a_handshake_counts_as_a_connection_and_is_disconnected(
    page: SecurePage,
) -> None:
    silent = [page.served.connect() for _ in range(MOST_OF_ONE)]
    until(lambda: len(page.served.server.connections) == MOST_OF_ONE)
    one_more = page.served.connect()
    assert is_closed(silent[0]), "the oldest makes room"
    assert all(map(is_closed, [*silent, one_more])), "disconnected after request_s"
    one_more.close()
    for each in silent:
        each.close()
    assert page.ask("GET", "/")["status"] == "200"


def test_events_arrive_over_tls(page: SecurePage) -> None:
    cookie = page.pair()["Set-Cookie"].partition(";")[0]
    stream = page.connect()
    head = f"Host: {page.served.host()}\r\nCookie: {cookie}"
    stream.sendall(f"GET /events HTTP/1.1\r\n{head}\r\n\r\n".encode())
    until(lambda: page.desk.viewers.any)
    event: Event = {"kind": "levels", "at": 1}
    page.served.do(lambda: page.desk.viewers.show([event]))
    received = b""
    while b"levels" not in received:
        received += stream.recv(65_536)
    stream.close()
    until(lambda: not page.desk.viewers.any)


def test_an_invalid_handshake_ends_only_its_connection(page: SecurePage) -> None:
    for rubbish in (b"\x16\x03\x01\x02\x00" + b"\xff" * 512, b"\x80\x2e\x01", b"\x00" * 64):
        with page.served.connect() as connection:
            connection.sendall(rubbish)
            connection.shutdown(socket.SHUT_WR)
            assert is_closed(connection)
    assert page.ask("GET", "/")["status"] == "200"
