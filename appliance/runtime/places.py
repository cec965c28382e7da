"""The paths of the columns in process_table.FILES, and the domain of a process (landlock.py).

In: the settings, the environment of the process. Out: paths, which need not exist.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import appliance
from appliance.runtime import landlock, restore_files, rights, status
from appliance.runtime.landlock import Domain
from appliance.runtime.process_table import FILES, Device, Place, Program
from appliance.runtime.settings_access import owner_path
from appliance.settings import SYSTEM_FILE, Settings
from appliance.settings.surroundings import is_service

DEVICES = Path("/dev")
SOUND_CARDS = Path("/dev/snd")
SOUND_FILES = "INTERLUDE_SOUND_FILES"  # environment variable: files of sound cards in software

# Folders in the state folder and, if the part keeps files in memory, in the unit's folder there.
STATE: tuple[Place, ...] = (
    "audio-encoder", "broker", "conductor", "enrolled", "link", "listener", "memory",
    "memory/states", "memory/uploads", "openings", "page", "panel", "timers",
)  # fmt: skip
IN_MEMORY: tuple[Place, ...] = ("conductor", "panel")
_MADE: tuple[Place, ...] = (*STATE, "control socket", "owner's settings")  # if missing

# tmpfiles.d; named by the modules that use them
_NOTES = ("changed", "light", "model", "network", "pull", "release", "start")
_RESOLVERS = ("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf", "/run/connman")
_SOUND_SERVERS = (".asoundrc", ".config/alsa", ".config/pipewire", ".config/pulse")
# What every process may read.
_SYSTEM = ("/bin", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")
_NULL = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom", "/dev/zero")
_LOADER = re.compile(rb"\0(/[\w./-]*/ld-[\w.-]+)\0")  # an ELF file's interpreter

Paths = Iterator[Path]


def domain(name: str, settings: Settings) -> Domain:
    """The domain of the process `name`, a row of FILES. Makes the folders that it may write."""
    files = FILES[name]
    made = Domain(
        ports=rights.connects_to(name, settings),
        abstract_sockets=rights.unix_sockets(name, settings) == "any",
    )
    made.add(landlock.READ, _everyones())
    made.add(landlock.DEVICE, map(Path, _NULL))
    for place in files.reads:
        made.add(landlock.READ, paths(place, settings))
    for place in files.writes:
        if place in _MADE:
            _make_folders(place, settings)
        made.add(landlock.WRITE, paths(place, settings))
    for device in files.devices:
        made.add(landlock.DEVICE, _DEVICES[device](settings))
        if device in _LISTED:
            made.add(landlock.LIST, (DEVICES,))
    for program in files.starts:
        made.add(landlock.START, _PROGRAMS[program](settings))
    return made


def paths(place: Place, settings: Settings) -> Paths:
    """The paths of a place."""
    if place not in STATE:
        yield from _PLACES[place](settings)
        return
    yield settings.state_path() / place
    if place in IN_MEMORY and (memory := status.folder()) is not None:
        yield memory / place


def _make_folders(place: Place, settings: Settings) -> None:
    """Make the folders of a place: once in its domain, the process may not. What cannot be made now
    cannot be written either, and the process reports that."""
    for folder in paths(place, settings):
        kept = folder.is_relative_to(settings.state_path())
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            try:
                path.mkdir()
                path.chmod(0o700 if kept else 0o755)  # others read the panel's health
            except OSError:
                return


def _everyones() -> Paths:
    yield from map(Path, _SYSTEM)
    yield from map(Path, (sys.prefix, sys.base_prefix))
    yield Path(appliance.__file__).parents[1]
    yield from map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))


def _control_socket(settings: Settings) -> Paths:
    """Outside of a service (dialog/control_socket.py)."""
    if not settings.state_dir and (runtime := os.environ.get("XDG_RUNTIME_DIR")):
        yield Path(runtime) / "interlude/conductor"


def _owner_settings(settings: Settings) -> Paths:
    """The folder of a settings file that the box's user owns: a change replaces the file. Where the
    file is root's, root changes it on request."""
    file = owner_path()
    if file != SYSTEM_FILE:
        yield file.resolve().parent


def _named(settings: Settings, *files: str) -> Paths:
    """Files that the owner has named. Their folders, too: a file that is replaced is another one,
    and a link may lead to another folder afterwards."""
    state = settings.state_path()
    for file in filter(None, files):
        path = Path(file).expanduser()
        yield path
        for folder in {path.parent, path.resolve().parent} - {_credentials()}:
            if not state.is_relative_to(folder):
                yield folder


def _credentials() -> Path | None:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return Path(folder) if folder else None


def _credential(name: str) -> Paths:
    if (folder := _credentials()) is not None:
        yield folder / name


def _broker_secrets(settings: Settings) -> Paths:
    link = settings.link
    yield from _named(
        settings, link.password_file, link.ca_file, link.certificate_file, link.key_file
    )
    yield from _credential("mqtt-password")


def _page_certificate(settings: Settings) -> Paths:
    yield from _named(settings, settings.page.certificate, settings.page.key)
    yield from _credential("page-key")


def _server_key(settings: Settings) -> Paths:
    yield from _named(settings, settings.thinking.remote.key_file)


def _restore_outcome(settings: Settings) -> Paths:
    """Written before any part runs (cli/restore.py)."""
    for name in (restore_files.OUTCOME, restore_files.REPLACED):
        yield settings.state_path() / name


def _sound_settings(settings: Settings) -> Paths:
    yield Path("/var/lib/alsa")
    if config := os.environ.get("ALSA_CONFIG_PATH"):
        yield Path(config)
    if not is_service():  # which has no home
        yield from (Path.home() / name for name in _SOUND_SERVERS)


def _fixed(*names: str) -> Callable[[Settings], Paths]:
    return lambda settings: map(Path, names)


_PLACES: dict[Place, Callable[[Settings], Paths]] = {
    "broker secrets": _broker_secrets,
    "control socket": _control_socket,
    "incoming": _fixed("/var/lib/interlude-incoming"),
    "models": lambda settings: iter((settings.models_path(),)),
    "name resolution": _fixed(*_RESOLVERS),
    "notes of root": _fixed(*(f"/run/interlude-{name}" for name in _NOTES)),
    "OOM scores": _fixed("/proc"),  # of its programs (voice/confine.py)
    "owner's settings": _owner_settings,
    "page certificate": _page_certificate,
    "releases": _fixed("/opt/interlude"),
    "requests": _fixed("/run/interlude-wanted"),
    "restore outcome": _restore_outcome,
    "server key": _server_key,
    "sound settings": _sound_settings,
    "voices": lambda settings: iter((settings.programs_path(),)),
    "warnings": _fixed("/var/log/interlude"),
    "wishes": _fixed("/var/lib/interlude-wishes"),
}


def _sound(settings: Settings) -> Paths:
    """Of all cards, also of one that is plugged in later. Without the folder, which the first card
    brings if systemd has not made it, the process starts again when it comes (audio/hotplug.py)."""
    yield SOUND_CARDS
    yield from map(Path, filter(None, os.environ.get(SOUND_FILES, "").split(os.pathsep)))


def _pins(settings: Settings) -> Paths:
    """Without its chip the panel ends, and is started again."""
    for kind in ("gpiochip*", "spidev*"):
        yield from DEVICES.glob(kind)
    if settings.panel.spi:
        yield Path(settings.panel.spi)


_LISTED: tuple[Device, ...] = ("pins",)  # found by their names in the folder of devices
_DEVICES: dict[Device, Callable[[Settings], Paths]] = {"pins": _pins, "sound": _sound}


def _python(settings: Settings) -> Paths:
    """The interpreter, and the loader of its libraries, which the kernel starts for it."""
    program = Path(sys.executable).resolve()
    yield program
    with program.open("rb") as file:
        if found := _LOADER.search(file.read(4096)):
            yield Path(os.fsdecode(found[1]))


def _voice_programs(settings: Settings) -> Paths:
    """espeak-ng, and what a voice's program needs: a shell, another Python."""
    yield from map(Path, ("/bin", "/lib", "/lib64", "/usr"))
    yield settings.programs_path()


_PROGRAMS: dict[Program, Callable[[Settings], Paths]] = {
    "python": _python,
    "voice programs": _voice_programs,
}
