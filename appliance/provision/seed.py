"""The seed, an owner's settings for a new box, and the validation of each field.

In: untrusted text from a card or from the set-up page. Out: a Seed whose fields may all be written
into files of the system.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import get_args

from appliance.errors import ModelError, SeedRefused
from appliance.language.catalogue import BoxSentence
from appliance.language.codes import NAMES
from appliance.messages.commands import ModeName
from appliance.models import catalogue
from appliance.provision.refusal import SayableRefusal
from appliance.settings.language import ANY
from appliance.settings.models import MODEL_NAME, OwnModel
from appliance.settings.surroundings import Gpio

MOST_KEYS = 20
PANELS = tuple(name for name in get_args(Gpio) if name != "keyboard")  # a new box has none
_HOST = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")  # RFC 1123
_PLACE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?")  # host name or address
_ZONE = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}")
_CARD = re.compile(r"[A-Za-z][A-Za-z0-9_:=,.-]{0,79}")  # the part of ALSA's syntax that cards need
_COUNTRY = re.compile(r"[A-Z]{2}")  # ISO 3166
_KINDS = (
    r"ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)"
    r"|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com"
)
_KEY = re.compile(rf"({_KINDS}) ([A-Za-z0-9+/]+=*)(?: ([^\x00-\x1f\x7f]*))?")
_HEX = re.compile(r"[0-9a-fA-F]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class WifiNetwork:
    """A Wi-Fi. `password`: 8 to 63 characters, or the derived key in 64 hex digits; "": open."""

    name: bytes
    password: str = ""
    hidden: bool = False


@dataclass(frozen=True)
class Seed:
    """Settings of a new box. An empty field changes nothing.

    keys       ssh public keys, each a line of authorized_keys
    country    for the radio's regulatory domain
    language   auto, or the only language of the box (ISO 639)
    name       of the box in Home Assistant
    password   of the user at the broker
    card       the sound card's ALSA name, or auto
    panel      wiring of button and light, as `panel.gpio` of the settings
    model      of the catalogue or of `models`, downloaded in the background
    voice      of the catalogue, downloaded in the background
    models     the owner's own rows of the catalogue, by name (settings/models.py)
    """

    hostname: str = ""
    wifi: WifiNetwork | None = None
    country: str = ""
    keys: tuple[str, ...] = ()
    timezone: str = ""
    language: str = ""
    mode: str = ""
    card: str = ""
    panel: str = ""
    name: str = ""
    broker: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    model: str = ""
    voice: str = ""
    models: Mapping[str, OwnModel] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return self == Seed()

    def merged_with(self, other: Seed) -> Seed:
        """This seed, with its empty fields taken from `other`."""
        return replace(
            self,
            **{
                row.name: getattr(self, row.name) or getattr(other, row.name)
                for row in fields(self)
            },
        )


def check(seed: Seed) -> None:
    """Raise SeedRefused for the first invalid field. The error never quotes a secret."""
    _check_host(seed.hostname)
    _matches("broker", seed.broker, _PLACE)
    _matches("timezone", seed.timezone, _ZONE)
    _matches("country", seed.country, _COUNTRY)
    if seed.language and seed.language != ANY and seed.language not in NAMES:
        raise SayableRefusal(
            BoxSentence.of("setup-page-wrong-language", value=_short(seed.language))
        )
    if seed.mode and seed.mode not in get_args(ModeName):
        there = _list(ModeName)
        raise SayableRefusal(
            BoxSentence.of("setup-page-wrong-mode", value=_short(seed.mode), there=there)
        )
    _matches("card", seed.card, _CARD)
    if seed.panel and seed.panel not in PANELS:
        there = ", ".join(PANELS)
        raise SayableRefusal(
            BoxSentence.of("setup-page-wrong-panel", value=_short(seed.panel), there=there)
        )
    if seed.mode == "push_to_talk" and seed.panel == "none":
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-no-button"))
    if not 0 <= seed.port <= 65_535:
        raise SeedRefused(f"The broker's port {seed.port} is not valid.", "1883 is the usual one.")
    for what, text, most in (
        ("name", seed.name, 60), ("user", seed.user, 120), ("password", seed.password, 200),
    ):  # fmt: skip
        if len(text) > most or _CONTROL.search(text) or not _utf8(text):
            raise SayableRefusal(BoxSentence.of("setup-page-wrong-too-long", what=what, most=most))
    if (seed.user or seed.password) and not seed.broker:
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-no-broker"))
    _check_models(seed)
    if seed.wifi is not None:
        _check_wifi(seed.wifi)
    if len(seed.keys) > MOST_KEYS:
        raise SeedRefused(f"There are {len(seed.keys)} ssh keys; at most {MOST_KEYS} are allowed.")
    for number, key in enumerate(seed.keys, 1):
        _check_key(key, number)


def _check_host(name: str) -> None:
    _matches("hostname", name, _HOST)
    if name.lower() == "localhost":
        raise SayableRefusal(BoxSentence("setup-page-wrong-localhost"))


def _check_models(seed: Seed) -> None:
    for name in seed.models:
        if not re.fullmatch(MODEL_NAME, name):
            remedy = "Use small letters, digits, dots and hyphens, 40 at most."
            raise SeedRefused(f"`{_short(name)}` is no name for a model.", remedy)
    if seed.model or seed.models:
        try:
            rows = catalogue.with_own(seed.models)
            model = catalogue.find(_short(seed.model or "pocket"), rows)
        except ModelError as error:
            raise SeedRefused(error.problem, error.remedy) from error
        if model.language is None:
            raise SeedRefused(f"{model.name} is not a language model.")
    if seed.voice:
        try:
            model = catalogue.find(_short(seed.voice))
        except ModelError as error:
            raise SeedRefused(error.problem, error.remedy) from error
        if model.kind != "voice":
            raise SeedRefused(f"{model.name} is not a voice.")


def _check_wifi(wifi: WifiNetwork) -> None:
    if not 1 <= len(wifi.name) <= 32:
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-name"))
    if b"\0" in wifi.name or _CONTROL.search(wifi.name.decode("utf-8", errors="replace")):
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-letters"))
    printable = wifi.password.isascii() and wifi.password.isprintable()
    valid_length = (
        not wifi.password or _HEX.fullmatch(wifi.password) or 8 <= len(wifi.password) <= 63
    )
    if not (valid_length and printable):
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-password"))


def _check_key(key: str, number: int) -> None:
    match = _KEY.fullmatch(key)
    try:
        blob = base64.b64decode(match[2], validate=True) if match else b""
    except binascii.Error:
        blob = b""
    # The blob begins with four bytes of length and the key type (RFC 4253, 6.6).
    if match is None or not _utf8(key) or blob[4 : 4 + len(match[1])] != match[1].encode():
        problem = f"The ssh key number {number} is not valid."
        raise SeedRefused(problem, "It is one line of a .pub file: ssh-ed25519 AAAA….")


def _matches(what: str, text: str, pattern: re.Pattern[str]) -> None:
    """Raise SayableRefusal unless `text` is empty or matches. `what`: the name of the field in the
    catalogue's `setup-page-wrong-none`."""
    if text and not pattern.fullmatch(text):
        raise SayableRefusal(BoxSentence.of("setup-page-wrong-none", what=what, value=_short(text)))


def _utf8(text: str) -> bool:
    """Whether the text can be encoded in UTF-8: a single surrogate of UTF-16 cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _short(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:40])


def _list(names: object) -> str:
    return ", ".join(get_args(names))
