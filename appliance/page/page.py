"""[process] The page: serves the box's web interface to browsers in the local network.

In: messages of the conductor, requests of browsers. Out: commands to the conductor, events to
browsers. It has no access to sound and models, and no network besides the connections it accepts.

If it dies: the conversation goes on; browsers reconnect by themselves.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time

from appliance.errors import PageError
from appliance.messages.thinking import AnswerHeard, Sentence
from appliance.messages.viewing import LiveView
from appliance.page import access, on_pairing
from appliance.page.certificate import PageCertificate, load_certificate, stamp
from appliance.page.certificate_watch import AGAIN_S, watch
from appliance.page.child_program import ChildPrograms
from appliance.page.http_server import HttpServer
from appliance.page.live import LiveModel, clock_event, word_event
from appliance.page.machine_settings import machine_settings
from appliance.page.pairing import Pairing, printed_digits
from appliance.page.redirect import RedirectSite
from appliance.page.site import PageSite
from appliance.page.templates import Templates
from appliance.page.try_state import TryState
from appliance.page.viewers import Viewers
from appliance.page.visit import PageBox
from appliance.panel import auto_detection
from appliance.panel.brightness import at_night
from appliance.runtime.listening_socket import set_up_is_open
from appliance.runtime.settings_access import settings_access
from appliance.runtime.worker import Worker

BEAT_S = 2.0

log = logging.getLogger("page")


def main(work: Worker) -> None:
    asyncio.run(Page(work).serve())


class Page:
    """Forwards the conductor's messages to browsers and the browsers' commands to the conductor."""

    def __init__(self, work: Worker) -> None:
        self._work = work
        self._model = LiveModel()
        self._viewers = Viewers()
        self._sent_view = LiveView(on=False)
        self._done = asyncio.Event()
        self._programs = ChildPrograms()
        self.box = PageBox(
            settings=work.settings,
            files=work.files,
            model=self._model,
            access=access.AccessStore(access.path(work.settings), time.time),
            pairing=Pairing(now_s=time.monotonic(), printed=printed_digits()),
            pages=Templates(),
            send=work.send,
            now_s=time.monotonic,
            disconnect=self._viewers.disconnect,
            changes=settings_access(time.monotonic, auto_detection.usable),
            machine=machine_settings(time.monotonic),
            start_program=self._programs.start,
            at_night=lambda: at_night(work.settings.panel),
            trying=TryState(work.settings.hearing.wake.sensitivity),
            scheme="https" if work.settings.page.certificate else "http",
        )

    async def serve(self) -> None:
        """Serve until the process is told to stop, or until the set-up page needs the port; the
        supervisor then starts another process."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._work.channel.fileno(), self._handle_mail)
        loop.add_reader(self._work.stop_fd, self._done.set)
        page = self._work.settings.page
        try:
            self.box.certificate = watch(page, time.monotonic())
        except PageError as error:
            log.error("there is no page: %s", error)
            await self._wait_for_certificate()
            return
        servers = self._servers(self.box.certificate.served if self.box.certificate else None)
        for server in servers:
            await server.start()
        self._work.report_ready()
        while await self._heartbeat():
            self._on_heartbeat(time.monotonic())
            self._follow_certificate(servers[0])
        for server in servers:
            server.close()
        await self._programs.close()

    def _servers(self, certificate: PageCertificate | None) -> list[HttpServer]:
        """The page's server; with a certificate also the servers that redirect from plain HTTP."""
        listener, *plain = self._work.listeners
        name, port = socket.gethostname().partition(".")[0], int(listener.getsockname()[1])
        site = PageSite(self.box, (name, port), self._viewers, self._on_viewers_changed)
        redirects = [
            HttpServer(
                source,
                RedirectSite(name, int(source.getsockname()[1]), port, self.box.certified),
            )
            for source in plain
        ]
        return [HttpServer(listener, site, certificate=certificate), *redirects]

    def _follow_certificate(self, server: HttpServer) -> None:
        if self.box.certificate is None:
            return
        new = self.box.certificate.look(time.monotonic(), time.time())
        if new is not None:
            server.use(new)

    async def _wait_for_certificate(self) -> None:
        """Run without a server until the certificate can be used; then return."""
        for listener in self._work.listeners:
            listener.close()
        self._work.report_ready()
        page, tried_s = self._work.settings.page, time.monotonic()
        seen = stamp(page)
        while await self._heartbeat():
            now, now_s = stamp(page), time.monotonic()
            if now == seen and now_s - tried_s < AGAIN_S:
                continue
            seen, tried_s = now, now_s
            try:
                load_certificate(page)
            except PageError:
                continue
            return

    async def _heartbeat(self) -> bool:
        """Send the heartbeat and wait BEAT_S. False: this process has to end."""
        if self._done.is_set() or set_up_is_open():
            return False
        self._work.beat()
        try:
            await asyncio.wait_for(self._done.wait(), BEAT_S)
        except TimeoutError:
            return True
        return False

    def _handle_mail(self) -> None:
        now_s = time.monotonic()
        for message in self._work.pop_messages():
            match message:
                case Sentence() | AnswerHeard():
                    self._viewers.show([word_event(message)], words=True)
                case _:
                    on_pairing.follow(self.box, message)  # before a press ends an enrolment
                    self._viewers.show(self._model.handle(message, now_s))
                    self._viewers.show(self.box.trying.handle(message, now_s))
                    self._send_enrolment_messages()

    def _send_enrolment_messages(self) -> None:
        """Send the enrolment's messages to the conductor."""
        for message in self.box.trying.enrolment.pop_messages():
            self._work.send(message)

    def _on_heartbeat(self, now_s: float) -> None:
        """At each heartbeat: send the clock, which also detects lost browsers; send the view again,
        in case the conductor was restarted; end trials that have timed out, or that no browser
        shows any more."""
        self._viewers.show([clock_event(now_s)])
        self._send_view(again=True)
        self._viewers.show(self.box.trying.expire(now_s))
        if (ends := self.box.trying.abandoned(now_s, looks=self._viewers.any)) is not None:
            self._work.send(ends)
        self._send_enrolment_messages()

    def _on_viewers_changed(self) -> None:
        """Tell the conductor at once when the first browser connects or requests text. Departures
        are reported at the next heartbeat, so that reconnecting browsers cause few messages."""
        if self._viewers.any > self._sent_view.on or self._viewers.words > self._sent_view.words:
            self._send_view()

    def _send_view(self, *, again: bool = False) -> None:
        view = LiveView(self._viewers.any, self._viewers.words)
        if (view != self._sent_view or (again and view.on)) and self._work.send(view):
            self._sent_view = view
