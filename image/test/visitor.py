"""A browser in the owner's home: plain HTTP, cookies, the hidden fields of forms.

It also discovers services by multicast DNS, as service browsers and Home Assistant do.
"""

from __future__ import annotations

import http.client
import re
import socket
import struct
import time
import urllib.parse
from dataclasses import dataclass, field
from http.cookies import SimpleCookie

LIMIT_S = 600.0  # host time for one answer of an emulated machine
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
_MDNS = ("224.0.0.251", 5353)
_PTR, _IN = 12, 1
# A record SRV of the answer: type, class with or without mDNS's flush bit, TTL, length, priority,
# weight, port (RFC 2782, RFC 6762).
_SRV = re.compile(rb"\x00\x21[\x00\x80]\x01.{6}\x00\x00\x00\x00(..)", re.DOTALL)


@dataclass
class Visitor:
    """One browser. `address`: of the box; `host`: the name that was typed into the browser."""

    address: str
    host: str
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        return self._ask("GET", path, None, headers)

    def post(self, path: str, form: dict[str, str], **headers: str) -> tuple[int, str]:
        """Post a form as from the page itself; `headers` may override its Origin."""
        said = {
            "Origin": f"http://{self.host}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return self._ask("POST", path, urllib.parse.urlencode(form), said | headers)

    def hidden(self, path: str) -> dict[str, str]:
        """The hidden fields of a page's forms; of several with one name, the first."""
        status, text = self.get(path)
        assert status == 200, (path, status)
        found: dict[str, str] = {}
        for name, value in _HIDDEN.findall(text):
            found.setdefault(name, value)
        return found

    def until_announced(self, limit_s: float) -> None:
        """Wait until the box has said the two digits that the page shows."""
        limit = time.monotonic() + limit_s
        while "press its button now" not in self.get("/pair")[1]:
            if time.monotonic() > limit:
                raise TimeoutError("the announcement was not heard")
            time.sleep(1.0)

    def until_let_in(self, limit_s: float) -> None:
        """Wait until a press of the button has let this browser in.

        A single press is certain only after the time for a double press.
        """
        limit = time.monotonic() + limit_s
        while self.get("/pair")[0] != 303:
            if time.monotonic() > limit:
                raise TimeoutError("the button lets nobody in")
            time.sleep(1.0)

    def until_settled(self, path: str, limit_s: float) -> None:
        """Wait until the page no longer refreshes itself, as it does while a change is pending."""
        limit = time.monotonic() + limit_s
        while 'http-equiv="refresh"' in self.get(path)[1]:
            if time.monotonic() > limit:
                raise TimeoutError(f"{path} still waits")

    def _ask(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, str]:
        kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        said = {"Host": self.host} | ({"Cookie": kept} if kept else {}) | headers
        connection = http.client.HTTPConnection(self.address, 80, timeout=LIMIT_S)
        try:
            connection.request(method, path, body, said)
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        for row in reply.headers.get_all("Set-Cookie") or []:
            for name, morsel in SimpleCookie(row).items():
                self.cookies[name] = morsel.value
        return reply.status, text


def announced(kind: str, own_address: str, limit_s: float) -> tuple[bytes, int]:
    """The first mDNS answer for the service `kind` (such as _http._tcp), and the port in it.

    `own_address`: this machine's, in the network that is queried. Raises TimeoutError.
    """
    labels = [*kind.split("."), "local"]
    name = b"".join(bytes([len(each)]) + each.encode() for each in labels) + b"\0"
    query = struct.pack("!6H", 1, 0, 1, 0, 0, 0) + name + struct.pack("!2H", _PTR, _IN)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asks:
        asks.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own_address))
        asks.settimeout(10.0)
        for _ in range(int(limit_s / 10.0)):
            asks.sendto(query, _MDNS)
            try:
                answer = asks.recv(9000)
            except TimeoutError:
                continue
            if found := _SRV.search(answer):
                return answer, int(struct.unpack("!H", found[1])[0])
    raise TimeoutError(f"nobody offers {kind}")
