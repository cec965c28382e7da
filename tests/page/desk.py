"""A page without sockets: requests in, replies out, a settable clock, sent messages in a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from appliance.messages.commands import BoxStatus
from appliance.messages.registry import Message
from appliance.page.access import FILE, AccessStore
from appliance.page.live import LiveModel
from appliance.page.machine_settings import MachineSettings
from appliance.page.own_places import OwnPlaces
from appliance.page.pairing import Pairing
from appliance.page.requests import FORM, EventStream, Reply, Request
from appliance.page.site import PageSite
from appliance.page.templates import Templates
from appliance.page.viewers import Viewers
from appliance.page.visit import COOKIE, PageBox
from appliance.panel import auto_detection
from appliance.runtime.handed_changes import HandedChanges
from appliance.runtime.settings_access import SettingsAccess
from appliance.settings import load
from appliance.settings.owner_settings import OwnerSettings
from appliance.update.system.slot_state import SlotContent, SlotStateFile

HOST = "interlude.local"
CODE = "482913"


class Desk:
    """`sent`: messages of the page to the conductor. `cookies`: those of the requesting browser.
    `handed`: settings belong to root, and changes are handed over as requests."""

    def __init__(self, folder: Path, *, handed: bool = False, **changes: Any) -> None:
        self.now_s = 1000.0
        self.sent: list[Message] = []
        self.accepts_messages = True
        self.night = False
        self.address = "192.168.1.9"
        self.cookies: dict[str, str] = {}
        self.viewers = Viewers()
        self.watched = 0
        self.programs: list[tuple[Sequence[str], bytes, Callable[[bytes], None]]] = []
        settings = load(None, overrides={"state_dir": str(folder), **changes})
        (folder / "cmdline").write_text("quiet")
        self.box = PageBox(
            settings=settings,
            files=settings,
            model=LiveModel(),
            access=AccessStore(folder / FILE, lambda: 1.8e9 + self.now_s),
            pairing=Pairing(draw=lambda count: CODE[:count], now_s=self.now_s),
            pages=Templates(),
            send=self._send,
            now_s=lambda: self.now_s,
            disconnect=self.viewers.disconnect,
            changes=SettingsAccess(
                OwnerSettings(
                    folder / "settings.yaml",
                    folder / "mqtt-password",
                    auto_detection.usable,
                    named=not handed,
                ),
                handed,
                self._requests("settings", folder),
            ),
            machine=MachineSettings(
                self._requests("network", folder),
                self._requests("broker", folder),
                card=handed,
                localtime=folder / "localtime",
                public=folder,
            ),
            start_program=self._start,
            at_night=lambda: self.night,
            model_changes=self._requests("models", folder),
            look_changes=self._requests("look", folder),
            places=OwnPlaces(
                folder / "incoming",
                folder / "opt",
                folder / "run",
                folder / "os-release",
                folder / "pull.env",
                folder / "model-wanted",
                folder / "voice-wanted",
                folder / "machine",
                folder / "warnings.log",
                folder / "cmdline",
                folder / "start",
                folder / "vcio",
                folder / "looked",
                folder / "changed",
            ),
        )
        status = BoxStatus("open", False, 0.8, "espeak", "pocket", voices=("espeak", "amy"))
        self.box.model.handle(status, self.now_s)
        self.site = PageSite(self.box, ("interlude", 80), self.viewers, self._watch)

    def _requests(self, name: str, folder: Path) -> HandedChanges:
        return HandedChanges(name, lambda: self.now_s, folder / "wanted", folder / "changed")

    def _send(self, message: Message) -> bool:
        self.sent.append(message)
        return self.accepts_messages

    def _start(
        self, command: Sequence[str], given: bytes, _: float, done: Callable[[bytes], None]
    ) -> None:
        self.programs.append((command, given, done))

    def _watch(self) -> None:
        self.watched += 1

    def request(self, method: str, path: str, **headers: str) -> Reply | EventStream:
        """Request as a browser that keeps its cookies."""
        sent_headers = {"host": HOST} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        if self.cookies:
            sent_headers["cookie"] = "; ".join(
                f"{name}={value}" for name, value in self.cookies.items()
            )
        place, _, query = path.partition("?")
        words = dict(pair.split("=") for pair in query.split("&")) if query else {}
        body = sent_headers.pop("body", "").encode()
        reply = self.site.answer(Request(method, place, sent_headers, words, body, self.address))
        if isinstance(reply, Reply):
            self._keep_cookies(reply)
        return reply

    def get(self, path: str, **headers: str) -> Reply:
        reply = self.request("GET", path, **headers)
        assert isinstance(reply, Reply)
        return reply

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Reply:
        """Post a form with the page's own origin, unless `headers` override it."""
        sent_headers = {
            "origin": f"http://{HOST}",
            "content_type": FORM,
            "body": urlencode(form or {}),
        }
        reply = self.request("POST", path, **(sent_headers | headers))
        assert isinstance(reply, Reply)
        return reply

    def pair(self) -> None:
        """Pair the browser by the digits."""
        assert self.post("/pair/code").status == 303
        assert self.post("/pair", {"code": CODE}).status == 303
        assert COOKIE in self.cookies
        self.sent.clear()

    @property
    def token(self) -> str:
        """The form token of this browser."""
        found = re.search(r'name="token" value="(\w+)"', self.text("/access"))
        assert found
        return found[1]

    def text(self, path: str) -> str:
        return self.get(path).body.decode()

    def _keep_cookies(self, reply: Reply) -> None:
        for name, value in reply.headers:
            if name == "Set-Cookie":
                key, _, kept = value.partition(";")[0].partition("=")
                if kept:
                    self.cookies[key] = kept
                else:
                    self.cookies.pop(key, None)


def runs_from_slot_b(desk: Desk) -> SlotStateFile:
    """A card with our image that runs system 0.2.0 from slot b; 0.1.0 is proved in slot a."""
    places = desk.box.places
    places.firmware.touch()
    places.command_line.write_text("interlude.slot=b")
    places.os_release.write_text("IMAGE_ID=interlude\nIMAGE_VERSION=0.2.0\n")
    slot_state = SlotStateFile(places.releases / "system")
    with slot_state.locked():
        slot_state.mark_complete("a", SlotContent("0.1.0", proved=True))
    return slot_state
