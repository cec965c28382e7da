"""Mode, volume and voice as set at run time: by Home Assistant, the shell or a spoken command.

In: the settings as read from the files. Out: the same settings with the run-time values. Such a
value counts until the owner edits that line of the settings file; then the file's value counts.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

from appliance.background_file import BackgroundFileWriter, write_private
from appliance.record_file import load_record
from appliance.settings.section import Ratio
from appliance.settings.whole import Settings

FILE = "conductor/adjusted.json"  # in the state folder
GAP_S = 1.0  # minimum time between two writes: a dragged slider sends 50 values a second
STOP_S = 1.0  # timeout of the last write at an orderly stop

T = TypeVar("T")
Mode = Literal["open", "push_to_talk", "wake_word"]
SettingName = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class AdjustedValue(msgspec.Struct, Generic[T], frozen=True):
    """`value` replaces `file`, the value that the settings files had when `value` was set."""

    value: T
    file: T


class AdjustedSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """The values set at run time. None: the files' value counts."""

    version: Literal[1] = msgspec.field(default=1)
    mode: AdjustedValue[Mode] | None = None
    volume: AdjustedValue[Ratio] | None = None
    voice: AdjustedValue[SettingName] | None = None

    def applied_to(self, settings: Settings) -> Settings:
        """`settings` of the files, with each run-time value whose file value is unchanged."""
        speaking = settings.speaking
        return msgspec.structs.replace(
            settings,
            mode=_mode(_choose(self.mode, settings.mode), settings),
            speaking=msgspec.structs.replace(
                speaking,
                volume=_choose(self.volume, speaking.volume),
                voice=_choose(self.voice, speaking.voice),
            ),
        )


def path(settings: Settings) -> Path:
    return settings.state_path() / FILE


def read_file(file: Path) -> tuple[AdjustedSettings, str]:
    """The stored values and the problem with the file, or "". With a problem, no value is set."""
    values, problem = load_record(file, AdjustedSettings)
    return values or AdjustedSettings(), problem


def adjusted(settings: Settings) -> Settings:
    """`settings` of the files with the run-time values. Never fails: a bad file is ignored."""
    values, _ = read_file(path(settings))
    return values.applied_to(settings)


def names(settings: Settings) -> dict[str, Any]:
    """Each key whose value was set at run time → the value that the files have for it."""
    values, _ = read_file(path(settings))
    applied = values.applied_to(settings)
    pairs = {
        "mode": (applied.mode, settings.mode),
        "speaking.volume": (applied.speaking.volume, settings.speaking.volume),
        "speaking.voice": (applied.speaking.voice, settings.speaking.voice),
    }
    return {key: of_file for key, (value, of_file) in pairs.items() if value != of_file}


@dataclass(frozen=True)
class _FileValues:
    """The values of the settings files."""

    mode: Mode
    volume: float
    voice: str


class AdjustmentStore:
    """Stores the values that are set at run time. No method except `join` waits for the disk.

    `files`: the settings without run-time values. `failing`: the last write failed.
    """

    def __init__(self, files: Settings) -> None:
        self._files = _FileValues(files.mode, files.speaking.volume, files.speaking.voice)
        stored, problem = read_file(path(files))
        # A value that an edit of the files has overruled stays dropped after a second edit.
        self._values = _without_overruled(stored, self._files)
        self._complaints: deque[str] = deque()
        if problem:
            self._complaints.append(f"{problem}: mode, volume and voice are as in the settings")
        self.failing = False
        self._file = BackgroundFileWriter(
            FILE, partial(write_private, path(files)), self._on_written, gap_s=GAP_S
        )

    def follow(self, mode: Mode, volume: float | None, voice: str | None) -> None:
        """Store the values now in effect. None: not set since the start. A voice "": the files'
        voice counts again."""
        values = msgspec.structs.replace(self._values, mode=_value(mode, self._files.mode))
        if volume is not None and math.isfinite(volume):
            volume = min(1.0, max(0.0, volume))
            values = msgspec.structs.replace(values, volume=_value(volume, self._files.volume))
        if voice is not None:
            named = _value(voice, self._files.voice) if voice else None
            values = msgspec.structs.replace(values, voice=named)
        if values != self._values:
            self._values = values
            self._file.write_later(msgspec.json.encode(values))

    def complaints(self) -> list[str]:
        """New messages for the log; each is returned once."""
        return [self._complaints.popleft() for _ in range(len(self._complaints))]

    def request_stop(self) -> None:
        """Start the write of a pending value. Returns at once."""
        self._file.request_stop()

    def join(self) -> None:
        """After `request_stop`: wait at most STOP_S for that write."""
        self._file.join(STOP_S)

    def _on_written(self, data: bytes, problem: str) -> None:
        """Note the outcome of a write; called in the writer's thread."""
        if problem and not self.failing:
            self._complaints.append(f"values set at run time are not stored: {FILE} ({problem})")
        elif self.failing and not problem:
            self._complaints.append("values set at run time are stored again")
        self.failing = bool(problem)


def _mode(mode: Mode, settings: Settings) -> Mode:
    """`mode`, or the files' mode if it is push_to_talk and the panel with the button is gone:
    without a button, push_to_talk leaves no way to talk to the box."""
    return settings.mode if mode == "push_to_talk" and settings.panel.gpio == "none" else mode


def _choose(value: AdjustedValue[T] | None, of_file: T) -> T:
    return value.value if value is not None and value.file == of_file else of_file


def _value(value: T, of_file: T) -> AdjustedValue[T] | None:
    return None if value == of_file else AdjustedValue(value, of_file)


def _without_overruled(values: AdjustedSettings, files: _FileValues) -> AdjustedSettings:
    def still_valid(value: AdjustedValue[T] | None, of_file: T) -> AdjustedValue[T] | None:
        return value if value is not None and value.file == of_file else None

    return AdjustedSettings(
        mode=still_valid(values.mode, files.mode),
        volume=still_valid(values.volume, files.volume),
        voice=still_valid(values.voice, files.voice),
    )
