"""[process] The page: what a browser in the house sees of the box, and what it may tell it.

In: mail of the conductor, requests of browsers. Out: commands to the conductor, events to the
browsers that look. It has no sound, no model and no network but the connections that it accepts.

If it dies: the conversation goes on; browsers connect again by themselves.
"""

from __future__ import annotations

import asyncio
import socket
import time

from appliance.messages.commands import ButtonPressed, Say
from appliance.messages.thinking import AnswerHeard, Sentence
from appliance.messages.viewing import LiveView
from appliance.page import access
from appliance.page.child_program import ChildPrograms
from appliance.page.http_server import HttpServer
from appliance.page.live import LiveModel, word_event
from appliance.page.pairing import Pairing
from appliance.page.site import PageSite
from appliance.page.templates import Templates
from appliance.page.texts import Texts
from appliance.page.viewers import Viewers
from appliance.page.visit import PageBox
from appliance.runtime.listening_socket import set_up_is_open
from appliance.runtime.worker import Worker

BEAT_S = 2.0


def main(work: Worker) -> None:
    asyncio.run(Page(work).serve())


class Page:
    """Joins browsers and conductor."""

    def __init__(self, work: Worker) -> None:
        self._work = work
        self._model = LiveModel()
        self._viewers = Viewers()
        self._pairing = Pairing(now_s=time.monotonic())
        self._told = LiveView(on=False)
        self._done = asyncio.Event()
        self._programs = ChildPrograms()
        self.box = PageBox(
            settings=work.settings,
            files=work.files,
            model=self._model,
            access=access.AccessStore(access.path(work.settings), time.time),
            pairing=self._pairing,
            pages=Templates(),
            send=work.send,
            now_s=time.monotonic,
            disconnect=self._viewers.disconnect,
            start_program=self._programs.start,
        )

    async def serve(self) -> None:
        """Until told to stop, or until the set-up page needs the port; then another begins."""
        work = self._work
        assert work.listener is not None
        loop = asyncio.get_running_loop()
        loop.add_reader(work.channel.fileno(), self._handle_mail)
        loop.add_reader(work.stop_fd, self._done.set)
        host = (socket.gethostname().partition(".")[0], work.listener.getsockname()[1])
        site = PageSite(self.box, host, self._viewers, self._tell_watched)
        server = HttpServer(work.listener, site)
        await server.start()
        work.report_ready()
        while not self._done.is_set() and not set_up_is_open():
            work.beat()
            try:
                await asyncio.wait_for(self._done.wait(), BEAT_S)
            except TimeoutError:
                continue
        server.close()
        await self._programs.close()

    def _handle_mail(self) -> None:
        now_s = time.monotonic()
        for message in self._work.pop_messages():
            match message:
                case Sentence() | AnswerHeard():
                    self._viewers.show([word_event(message)], words=True)
                case ButtonPressed("press"):
                    self._press(now_s)
                case _:
                    self._viewers.show(self._model.handle(message, now_s))

    def _press(self, now_s: float) -> None:
        """The button lets in the one browser that waits for it."""
        if self._pairing.press(now_s) > 1:
            self._work.send(Say(Texts(self.box.settings.language)("pairing-several")))

    def _tell_watched(self) -> None:
        """The conductor, when somebody begins to look or the last one leaves."""
        view = LiveView(self._viewers.any, self._viewers.words)
        if view != self._told and self._work.send(view):
            self._told = view
