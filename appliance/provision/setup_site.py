"""The set-up page: one form, its validation, and the replies. Pure: no socket.

It is visible to everyone in range of the box's own Wi-Fi who has the password that the box says
aloud. It uses the code of the page in the home network (page/): server, headers, templates, origin
checks. It has no login, and shows nothing about the box. In: requests. Out: replies, and a valid
seed for the callback `submit`.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from appliance.errors import InterludeError
from appliance.language.catalogue import SOURCE, BoxSentence, catalogue
from appliance.language.catalogue import languages as catalogues
from appliance.page.hosts import is_own_fetch, is_own_origin
from appliance.page.requests import FORM, EventStream, Reply, Request, plain
from appliance.page.static_files import StaticFiles
from appliance.page.templates import Templates
from appliance.page.texts import Texts
from appliance.provision.refusal import SayableRefusal, told
from appliance.provision.seed import PANELS, Seed, WifiNetwork, check
from appliance.token_bucket import TokenBucket

MOST_BYTES = 8192  # of a submitted form
MOST_TRIES, TRIES_A_SECOND = 20, 1 / 3  # burst, and sustained rate
MOST_LETTERS = {  # limit of each field, whose label is `setup-page-NAME` of the catalogue
    "wifi": 32, "password": 64, "country": 2, "hostname": 63, "card": 80, "broker": 253,
    "user": 120, "secret": 200,
}  # fmt: skip
_SECRETS = ("password", "secret")  # never sent back
_CHOICES = ("token", "mode", "model", "panel", "language")
_MODES = {"open": "mode-open", "wake_word": "mode-wake-word", "push_to_talk": "mode-push-to-talk"}
_GEMMA = "gemma-4-e2b"


@dataclass
class SetupSite:
    """The set-up page as a site of the HTTP server. `place`: the Host header of its address.
    `submit`: called with each valid seed. `cable`: the box is in a network and needs no Wi-Fi.
    `problem`: of the last attempt, or "". `used`: called when the form is shown or sent. `now_s`:
    CLOCK_MONOTONIC. `language`: for a browser that wants none of ours."""

    place: str
    submit: Callable[[Seed], None]
    now_s: Callable[[], float]
    names: tuple[str, ...] = ()
    cable: bool = False
    language: str = SOURCE
    problem: Callable[[], str] = lambda: ""
    used: Callable[[], None] = lambda: None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _templates: Templates = field(default_factory=Templates)
    _files: StaticFiles = field(default_factory=StaticFiles)

    def __post_init__(self) -> None:
        self._tries = TokenBucket(MOST_TRIES, TRIES_A_SECOND, self.now_s())

    def answer(self, request: Request) -> Reply:
        """Reply with the form. Any other page of any host redirects to it, also the captive-portal
        probes of phones (http://captive.apple.com/hotspot-detect.html): an unexpected reply to a
        probe makes a phone open the page by itself."""
        if request.method == "POST":
            reply = self._post(request)
            self.used()
            return reply
        if request.method not in ("GET", "HEAD"):
            return plain(405, "The page is read, or a form is sent to it.")
        own = request.headers.get("host", "") == self.place
        if own and request.path.startswith("/static/"):
            return self._files.reply(request)
        if not own or request.path != "/":
            return Reply(302, headers=(("Location", f"http://{self.place}/"),))
        self.used()
        return self._form(self._texts(request), self.problem())

    def receive(self, request: Request) -> None:
        """Ignored: the set-up page has no uploads."""

    def knows(self, request: Request) -> bool:
        """No browser is paired with the set-up page."""
        return False

    def join(self, stream: EventStream, send: Callable[[bytes], None]) -> object:
        raise NotImplementedError("a set-up has no events")

    def leave(self, viewer: object) -> None:
        raise NotImplementedError("a set-up has no viewers")

    def _post(self, request: Request) -> Reply:
        t = self._texts(request)
        if not self._tries.try_spend(self.now_s()):
            return self._message_page(t, 429, t("setup-page-too-many"))
        headers = request.headers
        if (
            headers.get("host", "") != self.place
            or not is_own_origin(headers)
            or not is_own_fetch(headers)
        ):
            return self._message_page(t, 403, t("setup-page-other-origin"))
        if len(request.body) > MOST_BYTES:
            return plain(413, "The form is too large.")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            return plain(415, "This is no form.")
        typed = request.form()
        if typed is None:
            return self._form(t, t("setup-page-wrong-not-whole"), status=400)
        if not hmac.compare_digest(typed.pop("token", "").encode(), self.token.encode()):
            return self._message_page(t, 403, t("setup-page-old"))
        try:
            seed = self._seed(typed)
            check(seed)
        except InterludeError as error:
            return self._form(t, told(error, catalogue(t.language)), typed, status=400)
        self.submit(seed)
        joins = seed.wifi.name.decode("utf-8", "replace") if seed.wifi else ""
        return self._message_page(t, 200, t("setup-page-closes"), joins, t("setup-page-thanks"))

    def _seed(self, typed: Mapping[str, str]) -> Seed:
        """The seed of a submitted form. Raises SeedRefused."""
        if not typed.keys() <= MOST_LETTERS.keys() | set(_CHOICES):
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-not-asked"))
        seed = _seed(typed)
        if seed.wifi is None and not self.cable:
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-missing"))
        if seed.empty:
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-nothing"))
        return seed

    def _texts(self, request: Request) -> Texts:
        return Texts.wanted(request.headers.get("accept-language", ""), self.language)

    def _form(
        self, t: Texts, problem: str, typed: Mapping[str, str] | None = None, status: int = 200
    ) -> Reply:
        values = {name: value for name, value in (typed or {}).items() if name not in _SECRETS}
        as_it_is = ("", t("setup-page-as-it-is"))
        languages = [(code, catalogue(code).say("language-name")) for code in catalogues()]
        modes = [(mode, t(f"setup-page-{name}")) for mode, name in _MODES.items()]
        panels = [(name, t("setup-page-panel-auto") if name == "auto" else name) for name in PANELS]
        return self._page(
            "setup", t, status,
            problem=problem, typed=values, most=MOST_LETTERS, names=self.names, cable=self.cable,
            languages=[as_it_is, ("auto", t("setup-page-any-language")), *languages],
            modes=[as_it_is, *modes], panels=[as_it_is, *panels],
            models=[("", t("setup-page-model-small")), (_GEMMA, t("setup-page-model-gemma"))],
        )  # fmt: skip

    def _message_page(
        self, t: Texts, status: int, message: str, joins: str = "", title: str = ""
    ) -> Reply:
        title = title or t("setup-page-title")
        return self._page("setup-said", t, status, said=message, joins=joins, title=title)

    def _page(self, template: str, t: Texts, status: int, **words: Any) -> Reply:
        html = self._templates.render(
            template, t=t, name="Interlude", browser=None, path="/", notice="", token=self.token,
            **words,
        )  # fmt: skip
        return Reply(status, html.encode())


def _seed(typed: Mapping[str, str]) -> Seed:
    words = {name: value.strip() for name, value in typed.items()}
    name = words.get("wifi", "")
    return Seed(
        wifi=WifiNetwork(name.encode(), typed.get("password", "")) if name else None,
        country=words.get("country", "").upper(),
        hostname=words.get("hostname", ""),
        broker=words.get("broker", ""),
        user=words.get("user", ""),
        password=typed.get("secret", ""),
        language=words.get("language", ""),
        mode=words.get("mode", ""),
        card=words.get("card", ""),
        panel=words.get("panel", ""),
        model=words.get("model", ""),
    )
