"""Settings: typed, frozen, loaded once and checked at load.

In: the vendor's `defaults.yaml`, then the owner's file over it. Out: one `Settings`.
Every key has its unit and its reason in `defaults.yaml`; the types and ranges are here.

Only loading.py imports the YAML parser. The parts do not load it: the supervisor passes each of
them the checked settings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from appliance.settings.answering import (
    MemorySettings,
    RemoteSettings,
    SpeakingSettings,
    ThinkingSettings,
)
from appliance.settings.hearing import (
    EchoSettings,
    HearingSettings,
    OnsetSettings,
    PushToTalkSettings,
    TurnSettings,
    VerdictSettings,
    WakeSettings,
    WordsSettings,
)
from appliance.settings.machine import CardSettings, ProcessOverride
from appliance.settings.section import Section
from appliance.settings.surroundings import LinkSettings, PageSettings, PanelSettings
from appliance.settings.tools import ToolsSettings
from appliance.settings.whole import (
    DEFAULTS,
    SYSTEM_FILE,
    Settings,
    ignored_file,
    owner_file,
    user_file,
)

if TYPE_CHECKING:
    from appliance.settings.loading import changed, load, load_defaults, load_text

__all__ = [
    "DEFAULTS",
    "SYSTEM_FILE",
    "CardSettings",
    "EchoSettings",
    "HearingSettings",
    "LinkSettings",
    "MemorySettings",
    "OnsetSettings",
    "PageSettings",
    "PanelSettings",
    "ProcessOverride",
    "PushToTalkSettings",
    "RemoteSettings",
    "Section",
    "Settings",
    "SpeakingSettings",
    "ThinkingSettings",
    "ToolsSettings",
    "TurnSettings",
    "VerdictSettings",
    "WakeSettings",
    "WordsSettings",
    "changed",
    "ignored_file",
    "load",
    "load_defaults",
    "load_text",
    "owner_file",
    "user_file",
]


def __getattr__(name: str) -> Any:
    """Import the functions of loading.py at their first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("appliance.settings.loading"), name)
