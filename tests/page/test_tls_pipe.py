"""TLS without a socket: the browser's data arrives, and bytes that are not TLS are refused."""

from __future__ import annotations

import ssl

import pytest

from appliance.page.certificate import load_certificate
from appliance.page.tls_pipe import TlsPipe
from appliance.settings import load
from tests.certificates import Authority

pytestmark = pytest.mark.process  # openssl(1) makes the certificate


class TlsBrowser:
    """The other end of a pipe; it trusts `authority`."""

    def __init__(self, authority: Authority) -> None:
        self._arrived, self.to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=str(authority.certificate))
        self.tls = context.wrap_bio(self._arrived, self.to_send, server_hostname="kitchen.local")

    def feed(self, data: bytes) -> None:
        self._arrived.write(data)

    def handshake(self, pipe: TlsPipe, step: int = 65_536) -> bytes:
        """Do the handshake, `step` bytes at a time. Returns the data that the pipe decrypted."""
        decrypted = b""
        for _ in range(4):
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                pass
            decrypted += deliver(self.to_send.read(), pipe, step)
            self.feed(pipe.pop_outgoing())
        return decrypted


def deliver(data: bytes, pipe: TlsPipe, step: int) -> bytes:
    return b"".join(pipe.decrypt(data[at : at + step]) for at in range(0, len(data), step))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def context(authority: Authority) -> ssl.SSLContext:
    certificate, key = authority.issue("kitchen.local")
    config = {"page": {"certificate": str(certificate), "key": str(key)}}
    found = load_certificate(load(None, config).page)
    assert found is not None
    return found.context


@pytest.mark.parametrize("step", [1, 100, 65_536])
def test_data_passes_both_ways_for_any_split_of_the_bytes(
    authority: Authority, context: ssl.SSLContext, step: int
) -> None:
    pipe, browser = TlsPipe(context), TlsBrowser(authority)
    assert browser.handshake(pipe, step) == b""
    request = b"GET / HTTP/1.1\r\n" + b"x" * 40_000
    browser.tls.write(request)
    assert deliver(browser.to_send.read(), pipe, step) == request
    pipe.encrypt(b"answer" * 10_000)
    browser.feed(pipe.pop_outgoing())
    received = b""
    while len(received) < 60_000:
        received += browser.tls.read(65_536)
    assert received == b"answer" * 10_000


def test_bytes_that_are_not_tls_are_refused(context: ssl.SSLContext) -> None:
    with pytest.raises(ssl.SSLError):
        TlsPipe(context).decrypt(b"GET / HTTP/1.1\r\n\r\n")


def test_a_browser_can_close_the_connection_with_close_notify(
    authority: Authority, context: ssl.SSLContext
) -> None:
    pipe, browser = TlsPipe(context), TlsBrowser(authority)
    browser.handshake(pipe)
    browser.tls.write(b"last")
    with pytest.raises(ssl.SSLWantReadError):
        browser.tls.unwrap()
    assert pipe.decrypt(browser.to_send.read()) == b"last"
    pipe.close()
    assert pipe.pop_outgoing() != b"", "close_notify"


def test_the_oldest_tls_is_1_2(authority: Authority, context: ssl.SSLContext) -> None:
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
