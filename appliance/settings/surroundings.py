"""Settings of the box's surroundings: the house's broker, the panel on the housing, the page."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import msgspec

from appliance.settings.section import Ratio, Section

NO_BUTTON = "This box has no button, so nobody could ever talk to it."  # in mode push_to_talk

Gpio = Literal["auto", "none", "header", "keyboard", "aiy-voice", "codec-zero", "respeaker-2-mics"]
Light = Literal["auto", "rgb", "red_green", "single", "ws2812", "apa102", "none"]
TopicText = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$")]


class LinkSettings(Section, frozen=True):
    """The house: an MQTT broker, and Home Assistant through it."""

    broker: str
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    user: str
    password_file: str
    tls: bool
    ca_file: str
    certificate_file: str
    key_file: str
    name: Annotated[str, msgspec.Meta(max_length=60)]
    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{0,32}$")]
    base: TopicText
    discovery: bool
    discovery_prefix: TopicText
    interval_s: Annotated[int, msgspec.Meta(ge=30, le=3600)]
    unmute: bool
    words: bool

    @property
    def usual_port(self) -> int:
        """The broker's port; if none is set, the one that is registered with IANA."""
        return self.port or (8883 if self.tls else 1883)


class PanelSettings(Section, frozen=True):
    """Button, mute switch and light on the housing."""

    gpio: Gpio
    chip: Annotated[str, msgspec.Meta(max_length=64)]
    mute_switch: bool
    light: Light
    leds: Annotated[int, msgspec.Meta(ge=0, le=144)]
    spi: Annotated[str, msgspec.Meta(pattern=r"^(/dev/\S+)?$")]
    brightness: Ratio
    night_brightness: Ratio
    night: Annotated[str, msgspec.Meta(pattern=r"^((^|-)([01][0-9]|2[0-3]):[0-5][0-9]){2}$|^$")]

    @property
    def here(self) -> bool:
        """Whether there is a panel, and so a button; `auto` is resolved before this is read."""
        return self.gpio not in ("none", "auto")


class PageSettings(Section, frozen=True):
    """The page for browsers in the house's network."""

    enabled: bool | Literal["auto"]
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    listen: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-fA-F.:]*$", max_length=45)]
    unmute: bool
    certificate: str
    key: str

    @property
    def wanted(self) -> bool:
        """Whether the page is served; `auto`: only by a service that systemd has started."""
        return self.enabled is True or (self.enabled == "auto" and is_service())

    @property
    def address(self) -> tuple[str, int]:
        """The address and the port that the page listens on."""
        service = is_service()
        return (
            self.listen or ("0.0.0.0" if service else "127.0.0.1"),  # noqa: S104  # the page checks each client
            self.port or self._usual_port(encrypted=bool(self.certificate), service=service),
        )

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """All addresses that the page listens on: with a certificate also a plain HTTP one, which
        redirects to the first."""
        host, port = self.address
        plain = self._usual_port(encrypted=False, service=is_service())
        return (host, port), *([(host, plain)] if self.certificate and plain != port else [])

    @staticmethod
    def _usual_port(*, encrypted: bool, service: bool) -> int:
        """The port registered with IANA; on a development machine one that needs no privilege."""
        return (443 if service else 8443) if encrypted else (80 if service else 8080)


def is_service() -> bool:
    """Whether this process is of a service, or of a command on a box."""
    return bool(os.environ.get("STATE_DIRECTORY"))  # by systemd, or runtime/service_account.py
