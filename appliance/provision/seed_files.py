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
# A second Wi-Fi, of a set-up that the button did not open at a box that had a Wi-Fi or a broker.
UNCONFIRMED = "etc/NetworkManager/system-connections/interlude-wifi-unconfirmed.nmconnection"
SETTINGS = "etc/interlude/settings.yaml"
SECRETS = "etc/interlude/secrets"
PASSWORD = f"{SECRETS}/mqtt-password"
KEYS = "root/.ssh/authorized_keys"
HOST, HOSTS, TIMEZONE = "etc/hostname", "etc/hosts", "etc/timezone"
COUNTRY = "etc/modprobe.d/interlude-country.conf"
OF_THE_SYSTEM = (HOST, HOSTS, TIMEZONE, COUNTRY)  # the system has its own, or works without
WANTED = "etc/interlude/model-wanted"  # read by models/store.py
VOICE_WANTED = "etc/interlude/voice-wanted"  # read by models/store.py
_SSID = "ssid="


@dataclass(frozen=True)
class PlannedFile:
    """A file that root owns: its path below the root, its content and its mode.

    `own`: it is on the data partition at this path, and not below `keep`.
    """

    path: str
    text: str
    mode: int = 0o644
    own: bool = False


def plan(seed: Seed, settings_now: str = "", *, confirmed: bool = True) -> list[PlannedFile]:
    """The files of a seed, in the order of writing. `settings_now`: text of the settings file.
    `confirmed`: the seed's Wi-Fi replaces the saved one.

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
        path = CONNECTION if confirmed else UNCONFIRMED
        text = connection(seed.wifi, confirmed=confirmed)
        files.append(PlannedFile(path, text, 0o600))
    new_password = seed.broker and (seed.password or _is_other_broker(seed, settings_now))
    if new_password:
        # An empty line is no password: the saved one is only for the broker it was typed for.
        files.append(PlannedFile(PASSWORD, f"{seed.password}\n", 0o600, own=True))
    # Before the settings: they are unusable while they name a model that is not being downloaded.
    # After a power cut between the two, the model is downloaded and not used.
    if seed.model and seed.model != "pocket":
        files.append(PlannedFile(WANTED, f"{seed.model}\n", own=True))
    if seed.voice:
        files.append(PlannedFile(VOICE_WANTED, f"{seed.voice}\n", own=True))
    changed = _settings(seed)
    if new_password and _link(settings_now).get("password_file"):
        changed["link"]["password_file"] = ""
    if changed:
        files.append(PlannedFile(SETTINGS, _merged(settings_now, changed), own=True))
    return files


def connection(wifi: WifiNetwork, *, confirmed: bool = True) -> str:
    """The content of NetworkManager's file for a Wi-Fi (nm-settings-keyfile(5)). Only the set-up
    joins one that is not `confirmed`.

    The SSID is written as byte values, since no quoting works for every name.
    """
    lines = [
        *_profile(wifi.name, confirmed=confirmed),
        "",
        "[wifi]",
        "mode=infrastructure",
        f"{_SSID}{';'.join(str(byte) for byte in wifi.name)};",
    ]
    lines += ["hidden=true"] if wifi.hidden else []
    if wifi.password:
        # wpa-psk allows WPA2 and WPA3; NetworkManager uses what the access point supports.
        lines += ["", "[wifi-security]", "key-mgmt=wpa-psk", f"psk={_keyfile(wifi.password)}"]
    lines += ["", "[ipv4]", "method=auto", "", "[ipv6]", "method=auto", ""]
    return "\n".join(lines)


def confirmed_connection(text: str) -> str:
    """The content of CONNECTION for the Wi-Fi in the content of UNCONFIRMED. Raises ValueError if
    `connection` has not written it."""
    lines = text.splitlines()
    ssid = next((line for line in lines if line.startswith(_SSID)), _SSID)
    name = bytes(int(byte) for byte in ssid.removeprefix(_SSID).rstrip(";").split(";"))
    return "\n".join([*_profile(name, confirmed=True), *lines[lines.index("") :], ""])


def _profile(name: bytes, *, confirmed: bool) -> list[str]:
    suffix = "" if confirmed else "-unconfirmed"
    return [
        "[connection]",
        f"id=interlude-wifi{suffix}",
        f"uuid={uuid.uuid5(_OURS, name.hex() + suffix)}",
        "type=wifi",
        f"autoconnect={'true' if confirmed else 'false'}",
    ]


def _is_other_broker(seed: Seed, settings_now: str) -> bool:
    """Whether the settings name a broker, and the seed another one, or another port or user."""
    link = _link(settings_now)
    typed = {"broker": seed.broker, "port": seed.port, "user": seed.user}
    differs = any(value and value != link.get(key) for key, value in typed.items())
    return bool(link.get("broker")) and differs


def _link(settings_now: str) -> dict[str, Any]:
    link = _present(settings_now).get("link")
    return link if isinstance(link, dict) else {}


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
    before = _present(now)
    after = {**before}
    for key, value in changed.items():
        present = before.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            value = {**present, **value}
        after[key] = value
    comments = now.rstrip() + "\n\n" if now.strip() and not before else ""
    return comments + yaml.safe_dump(after, allow_unicode=True, sort_keys=False)


def _present(settings_now: str) -> dict[str, Any]:
    """The settings file's content. Raises SeedRefused if it is invalid."""
    try:
        before = yaml.safe_load(settings_now) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: an invalid date
        raise SeedRefused(
            "The settings of this box cannot be read; nothing was changed."
        ) from error
    if not isinstance(before, dict):
        raise SeedRefused("The settings of this box are not valid; nothing was changed.")
    return before
