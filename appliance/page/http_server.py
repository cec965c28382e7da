"""HTTP/1.1 server of the page: reads requests, passes them to the site, sends the replies.

It limits the connections (connection_places.py), the time for receiving a request and for sending a
reply, and the size of both. A client over a limit is disconnected. At most one reply per connection
is buffered: no request is read before the client has fetched it.
It uses h11 directly: uvicorn, which also does, has no timeout for a request that never ends.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from typing import Protocol

import h11

from appliance.page.certificate import PageCertificate
from appliance.page.connection_places import ConnectionPlaces, network_of
from appliance.page.requests import EventStream, Reply, Request, plain, read_request
from appliance.page.response_headers import HEADERS, STRICT
from appliance.page.tls_pipe import TlsPipe
from appliance.page.upload import Upload
from appliance.runtime.listening_socket import BACKLOG

MOST_HEAD, MOST_BODY = 16_384, 16_384  # bytes of a request
REQUEST_S = 10.0  # from the start of a connection, or the first byte, to a complete request
IDLE_S = 3.0  # from a reply to the next request of a client without access; with access REQUEST_S
REPLY_S = 20.0  # for a client to fetch a reply
MOST_UNREAD = 262_144  # bytes of events buffered for a browser that does not fetch them
STREAM_S = 3600.0  # of events; then the browser reconnects, and its access is checked again

log = logging.getLogger("page")


class Site(Protocol):
    """Handles requests. `knows`: whether it is of a paired browser. No method may block."""

    def answer(self, request: Request) -> Reply | EventStream: ...
    def receive(self, request: Request) -> Upload | None: ...
    def knows(self, request: Request) -> bool: ...
    def join(self, stream: EventStream, send: Callable[[bytes], None]) -> object: ...
    def leave(self, viewer: object) -> None: ...


class HttpServer:
    """Serves `site` on `listener` while the event loop runs. `certificate`: use TLS and Secure
    cookies; if it is not self-signed, also Strict-Transport-Security."""

    def __init__(
        self,
        listener: socket.socket,
        site: Site,
        *,
        request_s: float = REQUEST_S,
        idle_s: float = IDLE_S,
        most_body: int = MOST_BODY,
        stream_s: float = STREAM_S,
        certificate: PageCertificate | None = None,
    ) -> None:
        self.site, self.request_s, self.idle_s = site, request_s, idle_s
        self.most_body, self.stream_s = most_body, stream_s
        self.use(certificate)
        self._listener = listener
        self._server: asyncio.Server | None = None
        self.connections = ConnectionPlaces[_Connection]()

    def use(self, certificate: PageCertificate | None) -> None:
        """Set the certificate for new connections."""
        self.tls = certificate.context if certificate else None
        strict = certificate is not None and not certificate.self_signed
        self.headers = (*HEADERS, *([STRICT] if strict else []))

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        # asyncio accepts up to `backlog` connections at once, and each uses a descriptor until it
        # is rejected.
        self._server = await loop.create_server(
            lambda: _Connection(self), sock=self._listener, backlog=BACKLOG
        )

    def close(self) -> None:
        """Stop listening and close all connections."""
        if self._server is not None:
            self._server.close()
        for connection in self.connections:
            connection.abort()


class _Connection(asyncio.Protocol):
    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._tls = TlsPipe(server.tls) if server.tls else None
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        self.network = ""
        self.paired = False
        self._idle = False  # since a reply, until the next request begins
        self._reply_buffered = False  # a part of the last reply is still buffered
        self._request: h11.Request | None = None
        self._body = bytearray()
        self._viewer: object | None = None
        self._upload: Upload | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        sends = self._reply_buffered or self._viewer is not None
        return not sends and not self._transport.is_closing()

    # ── what asyncio calls
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self.network = network_of(str(peer[0])) if peer else ""
        if not self.network or not self._server.connections.add(self):
            transport.abort()
            return
        self._transport.set_write_buffer_limits(high=0)
        self._set_timeout(self._server.request_s)

    def connection_lost(self, error: Exception | None) -> None:
        self._set_timeout(None)
        self._end_upload()
        if self._viewer is not None:
            self._server.site.leave(self._viewer)
            self._viewer = None
        self._server.connections.remove(self)

    def data_received(self, data: bytes) -> None:
        if self._viewer is not None or self._transport.is_closing():
            return  # no requests are accepted on an event stream
        if self._idle:
            self._idle = False
            self._set_timeout(self._server.request_s)
        try:
            if self._tls is not None:
                data = self._tls.decrypt(data)
                self._transport.write(self._tls.pop_outgoing())
                if not data:
                    return  # still in the handshake, or an incomplete record
            self._http.receive_data(data)
        except ssl.SSLError:
            # Plain HTTP, or a browser that rejects our certificate: send the TLS alert.
            assert self._tls is not None
            self._transport.write(self._tls.pop_outgoing())
            self._set_timeout(REPLY_S)
            self._transport.close()
            return
        self._advance()

    def pause_writing(self) -> None:
        """Stop reading and answering until the client has fetched the buffered reply."""
        self._reply_buffered = True
        if self._viewer is None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._reply_buffered = False
        if self._transport.is_closing():
            return
        self._transport.resume_reading()
        if self._viewer is None:
            self._await_request()
            self._advance()

    def eof_received(self) -> bool:
        return False  # closes

    # ── a request, piece by piece
    def _advance(self) -> None:
        try:
            self._handle_events()
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint or 400)

    def _handle_events(self) -> None:
        while not self._transport.is_closing() and not self._reply_buffered:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._request = event
                self._body.clear()
                if self._http.they_are_waiting_for_100_continue:
                    self._refuse(417)
                    return
                limit = self._begin_upload(event)
                if _content_length(event) > limit:
                    self._refuse(413)  # before its body is read
                    return
            elif isinstance(event, h11.Data):
                if self._upload is None:
                    self._body += event.data
                if self._upload is not None and not self._upload.write(bytes(event.data)):
                    self._refuse(413)
                    return
                if len(self._body) > self._server.most_body:
                    self._refuse(413)
                    return
            elif isinstance(event, h11.EndOfMessage):
                self._answer()
                if self._viewer is not None or self._http.our_state is not h11.DONE:
                    return
                self._http.start_next_cycle()
            else:
                return  # NEED_DATA, PAUSED or the end of the connection

    def _begin_upload(self, head: h11.Request) -> int:
        """Ask the site whether it knows the browser, and for an upload. Returns the limit for the
        body, larger for an upload."""
        request = self._parse(head, b"")
        self.paired = request is not None and self._server.site.knows(request)
        self._upload = self._server.site.receive(request) if request is not None else None
        if self._upload is None:
            return self._server.most_body
        self._set_timeout(self._upload.seconds)
        return self._upload.most_body

    def _parse(self, head: h11.Request, body: bytes) -> Request | None:
        return read_request(head.method, head.target, head.headers, body, self.network)

    def _end_upload(self) -> None:
        if self._upload is not None:
            self._upload.close()
            self._upload = None

    def _answer(self) -> None:
        assert self._request is not None
        request = self._parse(self._request, bytes(self._body))
        try:
            if self._upload is not None:
                reply: Reply | EventStream = self._upload.finish()
                self._upload = None
            elif request is None:
                reply = plain(400, "Bad request.")
            else:
                reply = self._server.site.answer(request)
        except Exception:  # a fault in one request must not stop the server
            log.exception("a request could not be answered")
            reply = plain(500, "Internal error of the box.")
        if isinstance(reply, EventStream):
            self._stream(reply)
        else:
            self._reply(reply, head_only=self._request.method == b"HEAD")

    def _reply(self, reply: Reply, *, head_only: bool = False) -> None:
        headers = [*self._server.headers, *map(self._secure, reply.headers)]
        headers.append(("Content-Type", reply.kind))
        if not any(name == "Cache-Control" for name, _ in reply.headers):
            headers.append(("Cache-Control", "no-store"))
        headers.append(("Content-Length", str(len(reply.body))))
        if self._http.their_state in (h11.MUST_CLOSE, h11.ERROR, h11.SEND_BODY):
            headers.append(("Connection", "close"))
        self._send(h11.Response(status_code=reply.status, headers=headers))
        if reply.body and not head_only:
            self._send(h11.Data(data=reply.body))
        self._send(h11.EndOfMessage())
        if self._http.our_state is h11.MUST_CLOSE:
            self._close()
        else:
            self._await_request()

    def _await_request(self) -> None:
        """Wait until the client has fetched the reply, then for its next request."""
        self._idle = not self._reply_buffered
        idle_s = self._server.request_s if self.paired else self._server.idle_s
        self._set_timeout(idle_s if self._idle else REPLY_S)

    def _refuse(self, status: int) -> None:
        """Send an error and close; for a request that is not read completely."""
        self._end_upload()
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = b"Refused.\n"
            self._send(
                h11.Response(
                    status_code=status,
                    headers=[
                        *self._server.headers,
                        ("Content-Length", str(len(body))),
                        ("Connection", "close"),
                    ],
                )
            )
            self._send(h11.Data(data=body))
            self._send(h11.EndOfMessage())
        self._close()

    def _secure(self, header: tuple[str, str]) -> tuple[str, str]:
        """Add the attribute Secure to a cookie that is set over TLS."""
        name, value = header
        return (name, f"{value}; Secure") if self._tls and name == "Set-Cookie" else header

    def _close(self) -> None:
        """Close the connection after the reply was fetched, or after REPLY_S."""
        self._set_timeout(REPLY_S)
        if self._tls is not None:
            self._tls.close()
            self._transport.write(self._tls.pop_outgoing())
        self._transport.close()

    # ── events
    def _stream(self, stream: EventStream) -> None:
        headers = [
            *self._server.headers, ("Content-Type", "text/event-stream"),
            ("Cache-Control", "no-store"), ("Connection", "close"),
        ]  # fmt: skip
        self._set_timeout(self._server.stream_s, self._end_stream)
        self._send(h11.Response(status_code=200, headers=headers))
        self._viewer = self._server.site.join(stream, self._event)

    def _event(self, data: bytes) -> None:
        """Send events; b"" disconnects. A client that does not fetch its events is disconnected."""
        if self._transport.is_closing():
            return
        if not data or self._transport.get_write_buffer_size() > MOST_UNREAD:
            self._transport.abort()
            return
        self._send(h11.Data(data=data))

    def _end_stream(self) -> None:
        """End the stream in an orderly way; the browser then reconnects at once."""
        self._send(h11.EndOfMessage())
        self._close()

    def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data and self._tls is not None:
            self._tls.encrypt(data)
            data = self._tls.pop_outgoing()
        if data:
            self._transport.write(data)

    def _set_timeout(self, seconds: float | None, then: Callable[[], None] | None = None) -> None:
        """Set the timeout; on expiry `then` is called, or the connection aborted. None: cancel."""
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = None if seconds is None else loop.call_later(seconds, then or self.abort)

    def abort(self) -> None:
        self._transport.abort()


def _content_length(request: h11.Request) -> int:
    """The Content-Length of a request, or 0; h11 has validated it."""
    return next((int(value) for name, value in request.headers if name == b"content-length"), 0)
