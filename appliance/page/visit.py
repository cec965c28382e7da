"""A request of somebody who is known, or not, and what the answer to it may use."""

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
    """For the browser that had a backup made: with it the file is fetched, for a while. No other
    page can make such a link up. `until_s`: CLOCK_MONOTONIC."""

    word: str
    browser: str
    until_s: float


COOKIE, WAITING = "interlude", "interlude-waits"
COOKIE_S = 400 * 86_400  # the longest that browsers keep one
WAITING_S = 300


class Renderer(Protocol):
    def render(self, template: str, /, **words: Any) -> str: ...


@dataclass
class PageBox:
    """What the page has of the box. `send`: to the conductor, False if it takes no mail. `now_s`:
    CLOCK_MONOTONIC. `disconnect`: the streams of a browser that was let in so. `changes`: of the
    owner's settings, `machine`: of what it runs on. `typed`: of a form whose broker is tried.
    `start_program`: a command, its input, the longest it may take in seconds, and who gets its
    output. `scheme`: by which the page is asked for.
    `model_changes`, `look_changes`: what is asked of root about models, and newer versions.
    `uploading`: one at a time. `backup_ticket`: of the last backup that was made."""

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
        """The names that the certificate is for which is served now; () without one."""
        return self.certificate.served.names if self.certificate is not None else ()


@dataclass
class Visit:
    """One request. `browser`: who was let in; None of a stranger. `form`: of a POST."""

    box: PageBox
    request: Request
    texts: Texts
    browser: Browser | None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def token(self) -> str:
        """What each form of this browser carries."""
        return form_token(self.request.cookie(COOKIE)) if self.browser else ""

    def box_says(self, key: str, **values: str) -> str:
        """In the language that the box speaks, whatever the browser's is."""
        return Texts(self.box.settings.language)(key, **values)

    def page(self, template: str, status: int = 200, **words: Any) -> Reply:
        """A page from a template, which has the box's name, its state and the texts."""
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
            **words,
        )
        return Reply(status, html.encode())

    def _notice(self) -> str:
        """What came of a form. A value that was set is the box's own, and none of the address."""
        values: dict[str, str | int] = {}
        status = self.box.model.shown_status(self.box.now_s())
        if status is not None and self.browser is not None:
            mode = self.texts(f"page-mode-{status.mode.replace('_', '-')}")
            percent = round(100 * status.volume)
            values = {"percent": percent, "mode": mode, "voice": status.voice}
        return self.texts.notice(self.request.words.get("said", ""), **values)

    def _broken(self) -> str:
        """What does not work, in the browser's language; "" if all does."""
        status = self.box.model.shown_status(self.box.now_s())
        return ", ".join(map(self._part, status.broken)) if status is not None else ""

    def _part(self, name: str) -> str:
        try:
            return self.texts(f"page-part-{name.replace(' ', '-')}")
        except KeyError:
            return name  # of another version of the box's software

    def _certificate(self) -> list[str]:
        """What its owner should know of it, where the box is looked at."""
        watch, shown = self.box.certificate, self.request.path in ("/own", "/access")
        if watch is None or self.browser is None or not shown:
            return []
        return watch.notices(self.texts, time.time())


Handler = Callable[[Visit], Reply]


def set_cookie(name: str, value: str, seconds: int) -> tuple[str, str]:
    """Of this box alone, and for no script. `seconds` 0 takes it back."""
    said = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict"
    return "Set-Cookie", said
