"""Plans the files of a seed: every path, mode and content, before any of them is written. Pure.

Files of the system go below `keep` on the data partition, which the first program of each boot
overlays on the read-only root (image/initramfs/init). Files of the box go into /etc/interlude,
which is itself on the data partition.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from appliance.errors import SeedRefused
from appliance.provision.seed import Seed, WifiNetwork
from appliance.settings.models import OwnModel

_OURS = uuid.UUID("0f0a4f2e-8a62-5c2b-9f2d-6f3a0b0d7f5e")  # namespace for uuid5; any UUID works
CONNECTION = "etc/NetworkManager/system-connections/interlude-wifi.nmconnection"
SETTINGS = "etc/interlude/settings.yaml"
SECRETS = "etc/interlude/secrets"
PASSWORD = f"{SECRETS}/mqtt-password"
KEYS = "root/.ssh/authorized_keys"
HOST, HOSTS, TIMEZONE = "etc/hostname", "etc/hosts", "etc/timezone"
COUNTRY = "etc/modprobe.d/interlude-country.conf"
OF_THE_SYSTEM = (HOST, HOSTS, TIMEZONE, COUNTRY)  # the system has its own, or works without
WANTED = "etc/interlude/model-wanted"  # read by models/store.py
VOICE_WANTED = "etc/interlude/voice-wanted"  # read by models/store.py


@dataclass(frozen=True)
class PlannedFile:
    """A file that root owns: its path below the root, its content and its mode.

    `own`: it is on the data partition at this path, and not below `keep`.
    """

    path: str
    text: str
    mode: int = 0o644
    own: bool = False


def plan(seed: Seed, settings_now: str = "") -> list[PlannedFile]:
    """The files of a seed, in the order of writing. `settings_now`: text of the settings file.

    Raises SeedRefused if the present settings are invalid.
    """
    files = []
    if seed.hostname:
        files += [
            PlannedFile(HOST, f"{seed.hostname}\n"),
            PlannedFile(HOSTS, f"127.0.0.1 localhost\n127.0.1.1 {seed.hostname}\n::1 localhost\n"),
        ]
    if seed.timezone:
        files.append(PlannedFile(TIMEZONE, f"{seed.timezone}\n"))
    if seed.country:
        line = f"options cfg80211 ieee80211_regdom={seed.country}\n"
        files.append(PlannedFile(COUNTRY, line))
    if seed.keys:
        files.append(PlannedFile(KEYS, "\n".join(seed.keys) + "\n", 0o600))
    if seed.wifi is not None:
        files.append(PlannedFile(CONNECTION, connection(seed.wifi), 0o600))
    if seed.broker and seed.password:
        files.append(PlannedFile(PASSWORD, f"{seed.password}\n", 0o600, own=True))
    # Before the settings: they are unusable while they name a model that is not being downloaded.
    # After a power cut between the two, the model is downloaded and not used.
    if seed.model and seed.model != "pocket":
        files.append(PlannedFile(WANTED, f"{seed.model}\n", own=True))
    if seed.voice:
        files.append(PlannedFile(VOICE_WANTED, f"{seed.voice}\n", own=True))
    if changed := _settings(seed):
        files.append(PlannedFile(SETTINGS, _merged(settings_now, changed), own=True))
    return files


def connection(wifi: WifiNetwork) -> str:
    """The content of NetworkManager's file for a Wi-Fi (nm-settings-keyfile(5)).

    The SSID is written as byte values, since no quoting works for every name.
    """
    lines = [
        "[connection]",
        "id=interlude-wifi",
        f"uuid={uuid.uuid5(_OURS, wifi.name.hex())}",
        "type=wifi",
        "autoconnect=true",
        "",
        "[wifi]",
        "mode=infrastructure",
        f"ssid={';'.join(str(byte) for byte in wifi.name)};",
    ]
    lines += ["hidden=true"] if wifi.hidden else []
    if wifi.password:
        # wpa-psk allows WPA2 and WPA3; NetworkManager uses what the access point supports.
        lines += ["", "[wifi-security]", "key-mgmt=wpa-psk", f"psk={_keyfile(wifi.password)}"]
    lines += ["", "[ipv4]", "method=auto", "", "[ipv6]", "method=auto", ""]
    return "\n".join(lines)


def _keyfile(text: str) -> str:
    """Escape a value for GLib's key files: backslashes, and a space at either end."""
    text = text.replace("\\", "\\\\")
    if text.startswith(" "):
        text = "\\s" + text[1:]
    return text[:-1] + "\\s" if text.endswith(" ") else text


def _settings(seed: Seed) -> dict[str, Any]:
    link = {"broker": seed.broker, "port": seed.port, "user": seed.user, "name": seed.name}
    changed: dict[str, Any] = {}
    if seed.language:
        changed["language"] = seed.language
    if seed.mode:
        changed["mode"] = seed.mode
    if seed.card:  # one device for both directions, since two devices' clocks drift apart
        changed["card"] = {"capture": seed.card, "playback": seed.card}
    if seed.panel:
        changed["panel"] = {"gpio": seed.panel}
    if link_values := {key: value for key, value in link.items() if value}:
        changed["link"] = link_values
    if seed.model:
        changed["thinking"] = {"model": seed.model}
    if seed.models:
        changed["models"] = {name: _changed_fields(row) for name, row in seed.models.items()}
    return changed


def _changed_fields(row: OwnModel) -> dict[str, Any]:
    """A row as its owner wrote it: without fields that have their default."""
    values: dict[str, Any] = msgspec.to_builtins(row)
    defaults = {field.name: field.default for field in msgspec.structs.fields(OwnModel)}
    return {key: value for key, value in values.items() if value != defaults[key]}


def _merged(now: str, changed: dict[str, Any]) -> str:
    """Merge changes into the text of the settings file. Comments are kept only if the file has
    nothing else."""
    try:
        before = yaml.safe_load(now) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: an invalid date
        raise SeedRefused(
            "The settings of this box cannot be read; nothing was changed."
        ) from error
    if not isinstance(before, dict):
        raise SeedRefused("The settings of this box are not valid; nothing was changed.")
    after = {**before}
    for key, value in changed.items():
        present = before.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            value = {**present, **value}
        after[key] = value
    comments = now.rstrip() + "\n\n" if now.strip() and not before else ""
    return comments + yaml.safe_dump(after, allow_unicode=True, sort_keys=False)
