"""Settings of the tools: what the model may do besides talking."""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.settings.section import Section

Stem = Annotated[str, msgspec.Meta(min_length=3, max_length=40)]


class ToolsSettings(Section, frozen=True):
    """Tools that the model may use (docs/tools.md)."""

    home: bool
    confirm: Annotated[tuple[Stem, ...], msgspec.Meta(max_length=100)]
    ring_minutes: Annotated[int, msgspec.Meta(ge=1, le=60)]
