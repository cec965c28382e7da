"""The page of a box in set-up: one form, and what comes of what is typed. Pure: no socket.

Whoever is within reach of the box's own Wi-Fi and has its password, which the box says aloud, sees
it. In: requests. Out: replies, and a seed that was found good, for whoever applies it.
"""

from __future__ import annotations

import hmac
import html
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from appliance.errors import InterludeError
from appliance.language.catalogue import BoxSentence, Catalogue, catalogue, english
from appliance.language.catalogue import languages as catalogues
from appliance.provision.refusal import SayableRefusal, told
from appliance.provision.seed import PANELS, Seed, WifiNetwork, check
from appliance.token_bucket import TokenBucket

MOST_BYTES = 8192  # of what is typed
MOST_TRIES, TRIES_A_SECOND = 20, 1 / 3  # at once, and then on average
FORM = "application/x-www-form-urlencoded"
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with "no-referrer" a browser says `Origin: null` of a form
    "Cache-Control": "no-store",
}
_FRAME = """<!doctype html><html lang="{language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>Interlude</title>
<style>body{{font:1.1rem sans-serif;max-width:32rem;margin:2rem auto;padding:0 1rem}}
label{{display:block;margin-top:1rem}}input,select,button{{font:inherit;width:100%;padding:.4rem;
box-sizing:border-box}}button{{margin-top:2rem}}.bad{{color:#a00;font-weight:bold}}</style></head>
<body><h1>Interlude</h1>{body}</body></html>
"""
_FIELDS = (  # name, kind, most letters; beside it stands `setup-page-NAME` of the catalogue
    ("wifi", "text", 32),
    ("password", "password", 64),
    ("country", "text", 2),
    ("hostname", "text", 63),
    ("card", "text", 80),
    ("broker", "text", 253),
    ("user", "text", 120),
    ("secret", "password", 200),
)
_CHOICES = ("token", "mode", "model", "panel", "language")
_MODES = {"open": "mode-open", "wake_word": "mode-wake-word", "push_to_talk": "mode-push-to-talk"}
_GEMMA = "gemma-4-e2b"


@dataclass(frozen=True)
class PageReply:
    status: int
    body: str = ""
    to: str = ""  # where a redirect leads


@dataclass
class SetupPage:
    """`place`: where it is served, as a browser names it. `take`: gets each seed that is good.
    `cable`: the box is in a network, and needs no Wi-Fi. `words`: what it says."""

    place: str
    take: Callable[[Seed], None]
    names: tuple[str, ...] = ()
    problem: str = ""  # of the last try
    cable: bool = False
    words: Catalogue = field(default_factory=english)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _tries: TokenBucket = field(
        default_factory=lambda: TokenBucket(MOST_TRIES, TRIES_A_SECOND, now_s=0.0)
    )

    def get(self, path: str, host: str) -> PageReply:
        """The form. Every other page of every host leads to it, also those by which phones look for
        the world (http://captive.apple.com/hotspot-detect.html): an answer that is not the one they
        expect makes them show the page by themselves."""
        if path != "/" or host != self.place:
            return PageReply(302, to=f"http://{self.place}/")
        return PageReply(200, self._form())

    def post(self, headers: Mapping[str, str], body: bytes, now_s: float) -> PageReply:
        """What was typed. `now_s`: CLOCK_MONOTONIC."""
        said = {name.lower(): value for name, value in headers.items()}
        if not self._tries.try_spend(now_s):
            return PageReply(429, self._told("too-many"))
        if said.get("host") != self.place or said.get("origin", self._origin) != self._origin:
            return PageReply(403, self._told("other-origin"))
        if said.get("content-type", "").partition(";")[0].strip() != FORM:
            return PageReply(415)
        if len(body) > MOST_BYTES:
            return PageReply(413)
        try:
            typed = _typed(body)
            if not hmac.compare_digest(typed.pop("token", "").encode(), self.token.encode()):
                return PageReply(403, self._told("old"))
            seed = self._seed(typed)
            check(seed)
        except InterludeError as error:
            self.problem = told(error, self.words)
            return PageReply(400, self._form())
        self.take(seed)
        return PageReply(200, self._framed(f"<p>{self._text('thanks')} {self._goes_on(seed)}</p>"))

    def _seed(self, typed: Mapping[str, str]) -> Seed:
        seed = _seed(typed)
        if seed.wifi is None and not self.cable:
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-missing"))
        if seed.empty:
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-nothing"))
        return seed

    @property
    def _origin(self) -> str:
        return f"http://{self.place}"

    def _text(self, name: str) -> str:
        return html.escape(self.words.say(f"setup-page-{name}"))

    def _told(self, name: str) -> str:
        return self._framed(f"<p>{self._text(name)}</p>")

    def _framed(self, body: str) -> str:
        return _FRAME.format(body=body, language=self.words.language)

    def _form(self) -> str:
        bad = f'<p class="bad">{html.escape(self.problem)}</p>' if self.problem else ""
        rows = [self._input(*row, required=row[0] == "wifi" and not self.cable) for row in _FIELDS]
        known = "".join(f'<option value="{html.escape(name)}">' for name in self.names)
        as_it_is = ("", self._text("as-it-is"))
        languages = [(code, _own_name(code)) for code in catalogues()]
        modes = [(mode, self._text(name)) for mode, name in _MODES.items()]
        panels = [(name, self._text("panel-auto") if name == "auto" else name) for name in PANELS]
        models = [("", self._text("model-small")), (_GEMMA, self._text("model-gemma"))]
        return self._framed(
            f'{bad}<form method="post" action="/" autocomplete="off">'
            f'<input type="hidden" name="token" value="{self.token}">{"".join(rows)}'
            f'<datalist id="known">{known}</datalist>'
            + self._select("language", [as_it_is, ("auto", self._text("any-language")), *languages])
            + self._select("mode", [as_it_is, *modes])
            + self._select("panel", [as_it_is, *panels])
            + self._select("model", models)
            + f"<button>{self._text('button')}</button></form>"
        )

    def _select(self, name: str, rows: Iterable[tuple[str, str]]) -> str:
        options = "".join(f'<option value="{key}">{says}</option>' for key, says in rows)
        return f'<label>{self._text(name)}<select name="{name}">{options}</select></label>'

    def _input(self, name: str, kind: str, most: int, *, required: bool) -> str:
        more = (' list="known"' if name == "wifi" else "") + (" required" if required else "")
        field_ = f'<input name="{name}" type="{kind}" maxlength="{most}"{more}>'
        return f"<label>{self._text(name)}{field_}</label>"

    def _goes_on(self, seed: Seed) -> str:
        if seed.wifi is None:
            return self._text("closes")
        joins = html.escape(seed.wifi.name.decode("utf-8", "replace"))
        return f"{self._text('joins-before')} <b>{joins}</b>. {self._text('joins-after')}"


def _own_name(language: str) -> str:
    return html.escape(catalogue(language).say("language-name"))


def _typed(body: bytes) -> dict[str, str]:
    """Each field once, as text. Raises SeedRefused."""
    try:
        found = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=True,
                         encoding="utf-8", errors="strict", max_num_fields=20)  # fmt: skip
    except ValueError as error:
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-not-whole")) from error
    known = {row[0] for row in _FIELDS}.union(_CHOICES)
    if not found.keys() <= known or any(len(values) > 1 for values in found.values()):
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-not-asked"))
    return {name: values[0] for name, values in found.items()}


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
