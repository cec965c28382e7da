"""Settings of what lies around the box: the house's broker, and the panel on the housing."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.settings.section import Ratio, Section

NO_BUTTON = "This box has no button, so nobody could ever talk to it."  # in mode push_to_talk

Gpio = Literal["auto", "none", "header", "keyboard", "aiy-voice", "codec-zero", "respeaker-2-mics"]
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


class PanelSettings(Section, frozen=True):
    """Button, mute switch and light on the housing."""

    gpio: Gpio
    chip: Annotated[str, msgspec.Meta(max_length=64)]
    mute_switch: bool
    light: Literal["auto", "rgb", "red_green", "single", "ws2812", "apa102", "none"]
    leds: Annotated[int, msgspec.Meta(ge=0, le=144)]
    spi: Annotated[str, msgspec.Meta(pattern=r"^(/dev/\S+)?$")]
    brightness: Ratio
    night_brightness: Ratio
    night: Annotated[str, msgspec.Meta(pattern=r"^((^|-)([01][0-9]|2[0-3]):[0-5][0-9]){2}$|^$")]

    @property
    def here(self) -> bool:
        """There is a panel, and so a button; `auto` is decided before anybody asks."""
        return self.gpio not in ("none", "auto")
