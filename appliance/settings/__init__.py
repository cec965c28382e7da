"""Settings: typed, frozen, loaded once and checked at load.

In: the vendor's `defaults.yaml`, then the owner's file over it. Out: one `Settings`.
Every key has its unit and its reason in `defaults.yaml`; the types and ranges are here.
"""

from appliance.settings.answering import Memory, Remote, Speaking, Thinking
from appliance.settings.hearing import (
    Echo,
    Hearing,
    Onset,
    PushToTalk,
    Turn,
    Verdict,
    Wake,
    Words,
)
from appliance.settings.loading import changed, load, load_defaults
from appliance.settings.machine import Card, ProcessOverride
from appliance.settings.section import Section
from appliance.settings.surroundings import Link, Panel
from appliance.settings.tools import Tools
from appliance.settings.whole import DEFAULTS, SYSTEM_FILE, Settings, owner_file, user_file

__all__ = [
    "DEFAULTS",
    "SYSTEM_FILE",
    "Card",
    "Echo",
    "Hearing",
    "Link",
    "Memory",
    "Onset",
    "Panel",
    "ProcessOverride",
    "PushToTalk",
    "Remote",
    "Section",
    "Settings",
    "Speaking",
    "Thinking",
    "Tools",
    "Turn",
    "Verdict",
    "Wake",
    "Words",
    "changed",
    "load",
    "load_defaults",
    "owner_file",
    "user_file",
]
