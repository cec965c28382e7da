"""A model hub for tests: the files of one repository over HTTP, with the failures of a network."""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPOSITORY = "somebody/some-model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class HubServer:
    """The files and the failures of the server. `requests`: method, path and Range of each request.

    files    path → content
    serves   path → content sent in place of the promised one
    cuts     the next GETs end after so many bytes, one after the other
    explains the body of an error
    statuses the next requests are answered with these, one after the other
    ranges   whether it can resume; "refuse" answers 416
    large    whether files have their SHA-256 as ETag, as the hub's large files do
    """

    files: dict[str, bytes] = field(default_factory=dict)
    serves: dict[str, bytes] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    explains: bytes = b""
    ranges: bool | str = True
    large: bool = True
    host: str = "127.0.0.1"
    hold: threading.Event | None = None
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)

    def __enter__(self) -> HubServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                server.answer(self)

            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *_: Any) -> None:
                return

        self._httpd = ThreadingHTTPServer((self.host, 0), Handler)
        self._httpd.daemon_threads = True
        self._thread = threading.Thread(target=self._httpd.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.hold is not None:
            self.hold.set()
        self._httpd.shutdown()
        self._httpd.server_close()

    @property
    def endpoint(self) -> str:
        return f"http://{self.host}:{self._httpd.server_port}"

    @property
    def gets(self) -> list[str | None]:
        """The Range header of each GET."""
        return [range_header for method, _, range_header in self.requests if method == "GET"]

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        range_header = http.headers.get("Range")
        self.requests.append((http.command, http.path, range_header))
        if self.statuses and (status := self.statuses.pop(0)) != 200:
            self._empty(http, status)
            return
        match = re.fullmatch(rf"/{REPOSITORY}/resolve/[^/]+/(.+)", http.path)
        if match is None or match[1] not in self.files:
            http.send_response(404)
            http.send_header("X-Error-Code", "EntryNotFound" if match else "RepoNotFound")
            http.send_header("Content-Length", "0")
            http.end_headers()
            return
        promised = self.files[match[1]]
        if http.command == "HEAD":
            self._headers(http, 200, promised, len(promised))
            return
        self._body(http, promised, self.serves.get(match[1], promised), range_header)

    def _body(
        self,
        http: BaseHTTPRequestHandler,
        promised: bytes,
        content: bytes,
        range_header: str | None,
    ) -> None:
        offset = int(range_header.removeprefix("bytes=").rstrip("-")) if range_header else 0
        if offset and (self.ranges == "refuse" or offset >= len(content)):
            self._empty(http, 416)
            return
        resumed = bool(offset) and self.ranges is True
        content = content[offset:] if resumed else content
        extra = {}
        if resumed:
            extra["Content-Range"] = f"bytes {offset}-{len(promised) - 1}/{len(promised)}"
        self._headers(http, 206 if resumed else 200, promised, len(content), extra)
        cut = self.cuts.pop(0) if self.cuts else None
        http.wfile.write(content[:cut])
        http.wfile.flush()
        if self.hold is not None:
            self.hold.wait(10)
        if cut is not None:
            http.close_connection = True

    def _headers(
        self,
        http: BaseHTTPRequestHandler,
        status: int,
        promised: bytes,
        length: int,
        extra: dict[str, str] | None = None,
    ) -> None:
        http.send_response(status)
        digest = hashlib.sha256 if self.large else hashlib.sha1
        http.send_header("ETag", f'"{digest(promised).hexdigest()}"')
        http.send_header("X-Repo-Commit", COMMIT)
        http.send_header("Content-Length", str(length))
        for name, value in (extra or {}).items():
            http.send_header(name, value)
        http.end_headers()

    def _empty(self, http: BaseHTTPRequestHandler, status: int) -> None:
        http.send_response(status)
        http.send_header("Content-Length", str(len(self.explains)))
        http.end_headers()
        with contextlib.suppress(OSError):  # a client that does not read it
            http.wfile.write(self.explains)
