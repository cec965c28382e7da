"""Serves the set-up page on the access point's address, while the box is in set-up and no longer.

Runs without rights. What was typed goes into a file, and root's own part reads, checks and applies
it (setup_session.py). Each writes into a folder of its own, in memory, where the other only reads:

/run/interlude-setup/open      root: there is set-up; the page's address, and networks in reach
/run/interlude-setup/problem   root: what went wrong with the last one, in a sentence
/run/interlude-page/typed.json the page: what was typed (submitted_form.py)
/run/interlude-page/used       the page: when somebody had it last

Phones keep several connections open, some of them silent: each is answered by a thread of its own.
"""

from __future__ import annotations

import http.server
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from appliance.language.catalogue import SOURCE, catalogue
from appliance.provision import submitted_form
from appliance.provision.setup_page import HEADERS, MOST_BYTES, PageReply, SetupPage
from appliance.record_file import read_record

FOLDER = Path("/run/interlude-setup")  # tmpfiles.d: root's; the page's user may read
OPEN, PROBLEM = "open", "problem"
CONNECTION_S = 5.0  # for one request
MOST_CONNECTIONS = 8  # at once; the unit allows 16 threads
LOOK_S = 0.5


class SetupAccess(msgspec.Struct, frozen=True):
    """What root says of a set-up. `port`: 80; a test takes what it gets. `cable`: the box is in a
    network by one, and needs no Wi-Fi. `language`: of the page."""

    address: str
    port: int = 80
    names: tuple[str, ...] = ()
    cable: bool = False
    language: str = SOURCE


def read_access(folder: Path) -> SetupAccess | None:
    return read_record(folder / OPEN, SetupAccess)


def serve(folder: Path = FOLDER, own: Path = submitted_form.FOLDER) -> None:
    """Until the set-up is over. Returns at once where there is none. Raises OSError."""
    said = read_access(folder)
    if said is None:
        return
    with server(folder, said, own) as http_server:
        while read_access(folder) is not None:
            http_server.handle_request()


def server(folder: Path, said: SetupAccess, own: Path) -> http.server.HTTPServer:
    """Bound to that address and no other. `folder`: root's; `own`: the page's."""
    page = SetupPage(
        said.address,
        lambda seed: submitted_form.submit(own, seed),
        said.names,
        cable=said.cable,
        words=catalogue(said.language),
    )
    one_at_a_time = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = CONNECTION_S
        server_version, sys_version = "Interlude", ""

        def do_GET(self) -> None:
            with one_at_a_time:
                self._problem()
                reply = page.get(self.path, self.headers.get("Host", ""))
            if reply.status == 200:  # the form; a phone's own look for the world is nobody's use
                submitted_form.mark_used(own)
            self._answer(reply)

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > MOST_BYTES:
                self.close_connection = True
                self._answer(PageReply(413))
                return
            body = self.rfile.read(int(length))
            with one_at_a_time:
                self._problem()
                reply = page.post(dict(self.headers.items()), body, time.monotonic())
            submitted_form.mark_used(own)
            self._answer(reply)

        def _problem(self) -> None:
            try:
                page.problem = (folder / PROBLEM).read_text(encoding="utf-8")
            except OSError:
                page.problem = ""

        def _answer(self, reply: PageReply) -> None:
            body = reply.body.encode()
            self.send_response(reply.status)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            if reply.to:
                self.send_header("Location", reply.to)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
            """Nothing: addresses of phones are no business of the log."""

    made = SetupServer((said.address, said.port), Handler)
    if made.server_port != 80:
        page.place = f"{said.address}:{made.server_port}"
    made.timeout = LOOK_S
    return made


class SetupServer(http.server.ThreadingHTTPServer):
    """MOST_CONNECTIONS at once; what is over that is closed unheard."""

    daemon_threads = True

    def __init__(
        self, place: tuple[str, int], handler: type[http.server.BaseHTTPRequestHandler]
    ) -> None:
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(place, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()
