"""A site served over real connections in its own thread."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from collections.abc import Callable
from typing import Any

from appliance.page.http_server import HttpServer, Site
from appliance.runtime.listening_socket import try_listen
from tests.page.desk import Desk


class Served:
    """`site`: function from the port to the site to serve. `options`: those of the server."""

    def __init__(self, site: Callable[[int], Site], **options: Any) -> None:
        listener = try_listen(("127.0.0.1", 0))
        self.port: int = listener.getsockname()[1]
        self.patience_s = 20.0  # timeout of each step of a reply
        self.loop = asyncio.new_event_loop()
        self.server = HttpServer(listener, site(self.port), **options)
        self._runs = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        assert self._runs.wait(20)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.server.start())
        self.loop.call_soon(self._runs.set)  # a stop before this point would end the start
        self.loop.run_forever()

    def do(self, action: Callable[[], object]) -> None:
        """Run `action` in the server's thread and wait for it."""
        done = threading.Event()

        def run() -> None:
            action()
            done.set()

        self.loop.call_soon_threadsafe(run)
        assert done.wait(20)

    def close(self) -> None:
        self.do(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        """Connect from an address of the loopback network."""
        return socket.create_connection(("127.0.0.1", self.port), 20, (source, 0))

    def host(self) -> str:
        return f"interlude.local:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes = b"", source: str = "127.0.0.1", **headers: str
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, self.patience_s, (source, 0)
        )
        sent_headers = {"Host": self.host()} | {k.replace("_", "-"): v for k, v in headers.items()}
        connection.request(method, path, body, sent_headers)
        reply = connection.getresponse()
        found = reply.status, reply.read()
        connection.close()
        return found


def served_desk(desk: Desk, **options: Any) -> Served:
    """The desk's page, served."""

    def site(port: int) -> Site:
        desk.site._host = ("interlude", port)
        return desk.site

    return Served(site, **options)


def is_closed(connection: socket.socket) -> bool:
    """Read to the end; True if the other side has closed the connection."""
    try:
        while connection.recv(65_536):
            continue
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def paired(served: Served, desk: Desk) -> str:
    """The cookies of a paired browser."""

    def pair() -> None:
        desk.site._host = ("interlude", 80)
        desk.pair()
        desk.site._host = ("interlude", served.port)

    served.do(pair)
    return "; ".join(f"{name}={value}" for name, value in desk.cookies.items())


def stream(served: Served, cookies: str) -> socket.socket:
    """A connection on which the live view has begun."""
    connection = served.connect()
    connection.sendall(
        f"GET /events HTTP/1.1\r\nHost: {served.host()}\r\nCookie: {cookies}\r\n\r\n".encode()
    )
    connection.recv(20)
    return connection
