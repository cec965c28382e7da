"""Reads a scene: a room and a script of what the owner says. In: YAML. Out: a checked `Scene`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml

from appliance.errors import SceneError
from lab.sim.synthetic_noises import NOISES

Decibels = Annotated[float, msgspec.Meta(ge=-120, le=20)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]
Expected = Literal["request", "backchannel", "interruption", "noise"]


class SceneSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of the sections of a scene; unknown keys are refused."""


class Room(SceneSection, frozen=True):
    """The room around the box.

    echo_db   dBFS: echo at the microphone for a full-scale answer; null: none
    delay_ms  ms from loudspeaker to microphone, including the converters' delay
    rt60_s    s until the echo has fallen by 60 dB
    noise     null, white, pink or kitchen; or a WAV or FLAC file, looped
    noise_db  dBFS (rms) of the noise; without `noise`, of a white noise floor
    seed      of the random numbers for echo and noise
    """

    echo_db: Decibels | None = None
    delay_ms: Annotated[float, msgspec.Meta(ge=0, le=200)] = 40.0
    rt60_s: Annotated[float, msgspec.Meta(ge=0.05, le=2.0)] = 0.3
    noise: str | None = None
    noise_db: Decibels = -60.0
    seed: int = 1


class ScriptedUtterance(SceneSection, frozen=True):
    """One sound of the owner: a spoken text, a file, or a noise (synthetic_noises.py).

    It starts either at `at_s`, counted from the scene's start, or `after_s` after the conversation
    entered the state `when`. `when: speaking` counts from the first audible sample of the answer or
    of its latest resume.
    """

    at_s: Seconds | None = None
    when: Literal["idle", "speaking", "thinking", "listening"] | None = None
    after_s: Seconds = 0.0
    say: str | None = None
    wav: str | None = None
    noise: str | None = None
    voice: str = "en-us"
    speed: Annotated[int, msgspec.Meta(ge=80, le=450)] = 165
    pitch: Annotated[int, msgspec.Meta(ge=0, le=99)] = 50
    level_db: Decibels | None = None
    kind: Expected = "request"
    seed: int = 1

    @property
    def what(self) -> str:
        """The text, the file, or the noise in parentheses."""
        return self.say or self.wav or f"({self.noise})"


class Scene(SceneSection, frozen=True):
    """A room and its owner's script. `patience_s`: timeout for each state that the script waits
    for."""

    room: Room = msgspec.field(default_factory=Room)
    owner: tuple[ScriptedUtterance, ...] = ()
    patience_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 90.0
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    name: str = ""
    folder: str = "."

    def file(self, path: str) -> Path:
        """A path of the scene, relative to the scene's own file."""
        return Path(self.folder) / Path(path).expanduser()


def load(path: Path) -> Scene:
    """Read a scene from a file. Raises SceneError, which names the wrong entry."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SceneError(f"{path}: cannot be read ({reason}).") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" near line {mark.line + 1}" if mark else ""
        raise SceneError(f"{path}: is not YAML{line}.") from error
    return parse(raw, name=path.stem, folder=path.parent)


def parse(raw: object, *, name: str, folder: Path) -> Scene:
    """Convert plain data to a scene. Raises SceneError."""
    if not isinstance(raw, dict):
        raise SceneError(f"{name}: a scene holds `room:` and `owner:`.")
    try:
        scene = msgspec.convert({"name": name, "folder": str(folder), **raw}, Scene)
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at ")
        raise SceneError(f"{name}: `{where.strip('`').removeprefix('$.')}`: {problem}.") from error
    if not scene.owner:
        raise SceneError(f"{name}: the owner has no entries.", "Give `owner:` at least one entry.")
    for number, entry in enumerate(scene.owner, 1):
        _check(scene, entry, f"{name}: owner entry {number}")
    if scene.room.noise not in (None, "white", "pink", "kitchen"):
        assert scene.room.noise is not None
        if not scene.file(scene.room.noise).is_file():
            raise SceneError(f"{name}: there is no noise file {scene.room.noise}.",
                             "Use white, pink, kitchen, or a WAV or FLAC file.")  # fmt: skip
    return scene


def _check(scene: Scene, entry: ScriptedUtterance, where: str) -> None:
    if (entry.at_s is None) == (entry.when is None):
        raise SceneError(f"{where}: give either `at_s` or `when`.")
    if sum(what is not None for what in (entry.say, entry.wav, entry.noise)) != 1:
        raise SceneError(f"{where}: give one of `say`, `wav` and `noise`.")
    if entry.say is not None and not entry.say.strip():
        raise SceneError(f"{where}: `say` is empty.")
    if entry.noise is not None and entry.noise not in NOISES:
        raise SceneError(f"{where}: there is no noise {entry.noise}.",
                         f"There are {', '.join(NOISES)}.")  # fmt: skip
    if entry.wav is not None and not scene.file(entry.wav).is_file():
        raise SceneError(f"{where}: there is no file {entry.wav}.")
