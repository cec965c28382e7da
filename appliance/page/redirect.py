"""Redirects from plain HTTP to the encrypted page. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import quote

from appliance.page.hosts import is_own_host
from appliance.page.requests import EventStream, Reply, Request, plain


class RedirectSite:
    """`name`: of the machine; `plain_port`: the port of this server; `port`: that of the page.
    `certified`: returns the names of the present certificate."""

    def __init__(
        self, name: str, plain_port: int, port: int, certified: Callable[[], Collection[str]]
    ) -> None:
        self._name, self._plain_port, self._port = name, plain_port, port
        self._certified = certified

    def answer(self, request: Request) -> Reply:
        """Redirect a GET. A form is rejected, as its content was already sent unencrypted."""
        host = request.headers.get("host", "")
        if not is_own_host(host, self._name, self._plain_port, certified=self._certified()):
            return plain(421, "This box has another name.")
        if request.method not in ("GET", "HEAD"):
            return plain(403, "The page is encrypted: ask for it by https.")
        bare = host[: host.rindex("]") + 1] if "]" in host else host.partition(":")[0]
        place = bare if self._port == 443 else f"{bare}:{self._port}"
        return Reply(308, headers=(("Location", f"https://{place}{quote(request.path)}"),))

    def receive(self, request: Request) -> None:
        """No uploads are accepted here."""

    def knows(self, request: Request) -> bool:
        """No browser sends its cookie here: it is for encrypted connections."""
        return False

    def join(self, stream: EventStream, send: Callable[[bytes], None]) -> object:
        raise NotImplementedError("a redirect has no events")

    def leave(self, viewer: object) -> None:
        raise NotImplementedError("a redirect has no viewers")
