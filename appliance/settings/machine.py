"""Settings of the machine: its sound card, and cores and priorities of its processes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.settings.section import Section


class CardSettings(Section, frozen=True):
    """The sound card. Microphone and loudspeaker must share one clock."""

    capture: str
    playback: str
    rate_hz: Literal[0, 16000, 32000, 48000, 96000]
    period_ms: Annotated[int, msgspec.Meta(ge=2, le=20)]
    periods: Annotated[int, msgspec.Meta(ge=2, le=8)]
    reserve_ms: Annotated[int, msgspec.Meta(ge=1, le=100)]
    channels: Annotated[int, msgspec.Meta(ge=0, le=2)]
    ramp_ms: Annotated[int, msgspec.Meta(ge=1, le=5)]


class ProcessOverride(Section, frozen=True):
    """The owner's changes to one row of the process table; absent fields keep the table's."""

    cores: tuple[Annotated[int, msgspec.Meta(ge=0, le=1023)], ...] | None = None
    priority: Annotated[int, msgspec.Meta(ge=0, le=90)] | None = None
    nice: Annotated[int, msgspec.Meta(ge=-20, le=19)] | None = None
