"""The MQTT topics of one box."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.settings import LinkSettings


@dataclass(frozen=True)
class Topics:
    """The topics of the box `box` under the owner's base and Home Assistant's prefix."""

    base: str
    prefix: str
    box: str

    @classmethod
    def of(cls, link: LinkSettings, box: str) -> Topics:
        return cls(link.base.strip("/"), link.discovery_prefix.strip("/"), box)

    @property
    def root(self) -> str:
        return f"{self.base}/{self.box}"

    @property
    def device(self) -> str:
        """Identifier of the device in Home Assistant, and part of every unique id."""
        return f"interlude_{self.box}"

    @property
    def availability(self) -> str:
        return f"{self.root}/availability"

    @property
    def state(self) -> str:
        return f"{self.root}/state"

    @property
    def settings(self) -> str:
        return f"{self.root}/settings"

    @property
    def telemetry(self) -> str:
        return f"{self.root}/telemetry"

    @property
    def update(self) -> str:
        return f"{self.root}/update"

    @property
    def timers(self) -> str:
        return f"{self.root}/timers"

    @property
    def conversation(self) -> str:
        return f"{self.root}/event/conversation"

    @property
    def button(self) -> str:
        return f"{self.root}/event/button"

    @property
    def timer(self) -> str:
        return f"{self.root}/event/timer"

    @property
    def discovery(self) -> str:
        return f"{self.prefix}/device/{self.device}/config"

    @property
    def birth(self) -> str:
        """Topic on which Home Assistant announces its start."""
        return f"{self.prefix}/status"

    @property
    def request(self) -> str:
        """Topic of the requests of the `home` tool."""
        return f"{self.root}/ha/request"

    @property
    def response(self) -> str:
        """Topic of Home Assistant's answers to them."""
        return f"{self.root}/ha/response"

    @property
    def commands(self) -> tuple[str, ...]:
        """Topic filters to which the box subscribes for commands."""
        return (f"{self.root}/set/+", f"{self.root}/cmd/+")

    @property
    def retained(self) -> tuple[str, ...]:
        """All retained topics of the box, in the order in which they are emptied."""
        return (
            self.discovery,
            self.availability,
            self.state,
            self.settings,
            self.telemetry,
            self.update,
            self.timers,
        )

    def set(self, setting: str) -> str:
        return f"{self.root}/set/{setting}"

    def command(self, name: str) -> str:
        return f"{self.root}/cmd/{name}"

    def name_of(self, topic: str) -> str:
        """Name of a command topic without the box's root: `set/volume` or `cmd/say`."""
        return topic.removeprefix(f"{self.root}/")
