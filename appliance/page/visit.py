"""One request with its browser, and the parts of the box that a handler may use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from appliance.messages.registry import Message
from appliance.models.model_request import REQUEST
from appliance.page.access import AccessStore, Browser, form_token
from appliance.page.certificate_watch import CertificateWatch
from appliance.page.live import LiveModel
from appliance.page.machine_settings import MachineSettings
from appliance.page.own_places import OwnPlaces
from appliance.page.pairing import Pairing
from appliance.page.requests import Reply, Request
from appliance.page.texts import Texts
from appliance.page.try_state import TryState
from appliance.runtime.handed_changes import HandedChanges
from appliance.runtime.settings_access import SettingsAccess
from appliance.settings import Settings
from appliance.update import look_request


class BackupTicket(NamedTuple):
    """Token with which the browser that made a backup downloads it, until it expires. Other sites
    cannot forge such a link. `until_s`: CLOCK_MONOTONIC."""

    word: str
    browser: str
    until_s: float


COOKIE, WAITING = "interlude", "interlude-waits"
COOKIE_S = 400 * 86_400  # the longest lifetime that browsers allow
WAITING_S = 300


class Renderer(Protocol):
    def render(self, template: str, /, **words: Any) -> str: ...


@dataclass
class PageBox:
    """The page's access to the box. `send`: to the conductor, False if its channel is full.
    `now_s`: CLOCK_MONOTONIC. `disconnect`: ends the streams of a browser. `changes`: of the owner's
    settings, `machine`: of the machine. `typed`: fields of a form whose broker is being tested.
    `start_program`: takes a command, its input, a timeout in seconds, and a callback for its
    output. `scheme`: of the page's URL. `model_changes`, `look_changes`: requests to root processes
    about models, and about newer versions. `uploading`: an upload is under way. `backup_ticket`: of
    the last backup that was made. `at_night`: whether the box is to be quiet (`panel.night`)."""

    settings: Settings
    files: Settings
    model: LiveModel
    access: AccessStore
    pairing: Pairing
    pages: Renderer
    send: Callable[[Message], bool]
    now_s: Callable[[], float]
    disconnect: Callable[[str], None]
    changes: SettingsAccess
    machine: MachineSettings
    start_program: Callable[[Sequence[str], bytes, float, Callable[[bytes], None]], None]
    at_night: Callable[[], bool]
    typed: Mapping[str, str] = field(default_factory=dict)
    trying: TryState = field(default_factory=TryState)
    scheme: Literal["http", "https"] = "http"
    places: OwnPlaces = field(default_factory=OwnPlaces)
    uploading: bool = False
    backup_ticket: BackupTicket | None = None
    certificate: CertificateWatch | None = None
    model_changes: HandedChanges = field(
        default_factory=lambda: HandedChanges(REQUEST, time.monotonic)
    )
    look_changes: HandedChanges = field(
        default_factory=lambda: HandedChanges(look_request.REQUEST, time.monotonic)
    )

    @property
    def name(self) -> str:
        return self.settings.link.name or "Interlude"

    def certified(self) -> tuple[str, ...]:
        """Host names of the certificate in use; () without one."""
        return self.certificate.served.names if self.certificate is not None else ()


@dataclass
class Visit:
    """One request. `browser`: the paired browser; None if it is unpaired. `form`: of a POST."""

    box: PageBox
    request: Request
    texts: Texts
    browser: Browser | None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def token(self) -> str:
        """The CSRF token of this browser's forms."""
        return form_token(self.request.cookie(COOKIE)) if self.browser else ""

    def box_says(self, key: str, **values: str) -> str:
        """A sentence in the box's language, regardless of the browser's."""
        return Texts(self.box.settings.language)(key, **values)

    def page(self, template: str, status: int = 200, **words: Any) -> Reply:
        """Render a template, which also gets the box's name, its state and the texts."""
        html = self.box.pages.render(
            template,
            t=self.texts,
            name=self.box.name,
            state=self.box.model.state.state,
            status=self.box.model.shown_status(self.box.now_s()),
            browser=self.browser,
            token=self.token,
            path=self.request.path,
            encrypted=self.box.scheme == "https",
            certificate=self._certificate(),
            broken=self._broken(),
            notice=self._notice(),
            unconfirmed=self.box.machine.unconfirmed if self.browser else "",
            **words,
        )
        return Reply(status, html.encode())

    def _notice(self) -> str:
        """Notice after a form. Its values come from the box's status, never from the query."""
        values: dict[str, str | int] = {}
        status = self.box.model.shown_status(self.box.now_s())
        if status is not None and self.browser is not None:
            mode = self.texts(f"page-mode-{status.mode.replace('_', '-')}")
            percent = round(100 * status.volume)
            values = {"percent": percent, "mode": mode, "voice": status.voice}
        return self.texts.notice(self.request.words.get("said", ""), **values)

    def _broken(self) -> str:
        """Names of the parts that have failed, in the browser's language; "" if none."""
        status = self.box.model.shown_status(self.box.now_s())
        return ", ".join(map(self._part, status.broken)) if status is not None else ""

    def _part(self, name: str) -> str:
        try:
            return self.texts(f"page-part-{name.replace(' ', '-')}")
        except KeyError:
            return name  # a part of another version of the software

    def _certificate(self) -> list[str]:
        """Notices about the certificate, on the pages /own and /access."""
        watch, shown = self.box.certificate, self.request.path in ("/own", "/access")
        if watch is None or self.browser is None or not shown:
            return []
        return watch.notices(self.texts, time.time())


Handler = Callable[[Visit], Reply]


def set_cookie(name: str, value: str, seconds: int) -> tuple[str, str]:
    """A Set-Cookie header, HttpOnly and SameSite=Strict. `seconds` 0 deletes the cookie."""
    header = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict"
    return "Set-Cookie", header
