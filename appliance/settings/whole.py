"""The type of all settings, and the paths of the settings file and of the box's folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from appliance.errors import ShownAs
from appliance.language.catalogue import SOURCE
from appliance.language.codes import NAMES, base
from appliance.settings.answering import MemorySettings, SpeakingSettings, ThinkingSettings
from appliance.settings.hearing import HearingSettings
from appliance.settings.language import ANY
from appliance.settings.machine import CardSettings, ProcessOverride
from appliance.settings.models import OwnModel
from appliance.settings.section import Section
from appliance.settings.surroundings import LinkSettings, PageSettings, PanelSettings, is_service
from appliance.settings.tools import ToolsSettings
from appliance.settings.value_errors import ValueRefused

DEFAULTS = Path(__file__).with_name("defaults.yaml")
SYSTEM_FILE = Path("/etc/interlude/settings.yaml")
SYSTEM_STATE = Path("/var/lib/interlude")  # the unit's StateDirectory=
SYSTEM_MODELS = Path("/var/lib/interlude-models")  # tmpfiles.d: owned by the downloading user
SYSTEM_PROGRAMS = Path("/opt/interlude/voices")  # tmpfiles.d: owned by root


def user_file() -> Path:
    """The owner's own file on a development machine, by the XDG base directory rules."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "interlude" / "settings.yaml"


def owner_file() -> Path | None:
    """The owner's settings file in effect when none is named: the user's own, or the system's.

    On a box only the system's, which is root's: the box's own user, and so each of its parts, could
    write any other.
    """
    candidates = (SYSTEM_FILE,) if is_service() else (user_file(), SYSTEM_FILE)
    return next((p for p in candidates if p.is_file()), None)


def ignored_file() -> Path | None:
    """A settings file in the state folder of a box, where `owner_file` does not look."""
    if not is_service():
        return None
    file = Path(os.environ["STATE_DIRECTORY"].split(":")[0]) / ".config/interlude/settings.yaml"
    return file if os.path.lexists(file) else None


class Settings(Section, frozen=True):
    """Everything an owner may change."""

    mode: Literal["open", "push_to_talk", "wake_word"]
    language: str
    state_dir: str
    models_dir: str
    card: CardSettings
    hearing: HearingSettings
    thinking: ThinkingSettings
    speaking: SpeakingSettings
    memory: MemorySettings
    tools: ToolsSettings
    link: LinkSettings
    panel: PanelSettings
    page: PageSettings
    models: dict[str, OwnModel]
    processes: dict[str, ProcessOverride]
    log: Literal["debug", "info", "warning", "error"]

    def __post_init__(self) -> None:
        if self.language != ANY and self.language not in NAMES:
            near = [code for code, name in NAMES.items() if name.lower() == self.language.lower()]
            hint = f"it is `{near[0]}`" if near else "it is auto, or a code of two letters, as en"
            shown = ShownAs.of("setup-page-wrong-language", value=self.language[:20])
            problem = f"there is no language `{self.language[:20]}`; {hint}"
            raise ValueRefused(problem, shown)

    @property
    def own_language(self) -> str:
        """The language of what the box says by itself before the owner has spoken."""
        return SOURCE if self.language == ANY else base(self.language)

    def state_path(self) -> Path:
        """The state folder: by the setting, systemd's StateDirectory=, or the XDG rules."""
        if self.state_dir:
            return Path(self.state_dir).expanduser()
        if systemd := os.environ.get("STATE_DIRECTORY"):
            return Path(systemd.split(":")[0])
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(base) / "interlude"

    def models_path(self) -> Path:
        """The folder of the models: by the setting, a box's own folder, or below the state folder.

        On a box another user owns it than the rest: the one whose processes download from the
        internet.
        """
        if self.models_dir:
            return Path(self.models_dir).expanduser()
        state = self.state_path()
        return SYSTEM_MODELS if state == SYSTEM_STATE else state / "models"

    def programs_path(self) -> Path:
        """The folder of the voices' programs. On a box it is below a folder of root, wherever the
        state folder is: no part of the box may write a program that it runs."""
        return SYSTEM_PROGRAMS if SYSTEM_PROGRAMS.parent.is_dir() else self.state_path() / "voices"
