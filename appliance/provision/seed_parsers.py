"""Parses the files of a seed on a new card's first partition into one Seed.

interlude.yaml                     our own format, described in docs/flash.md
user-data, network-config          of cloud-init, as written by Raspberry Pi Imager

Imager 2 writes the latter if the list that comes with the image says so (image/imager.py); Imager
1.7 to 1.9 write them to each image without the issue.txt of Raspberry Pi OS. Their content:
raspberrypi/rpi-imager, src/customization_generator.cpp (2.0.11), src/OptionsPopup.qml (1.9.6).
Entries without a use here (users, passwords, packages, commands) are ignored.
"""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
import yaml

from appliance.errors import SeedRefused
from appliance.provision.seed import Seed, WifiNetwork
from appliance.settings.models import OwnModel

MOST_BYTES = 32_768  # of one file; Imager's have about two thousand, 20 ssh keys 16,000

_OPENS = (
    yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken,
    yaml.BlockSequenceStartToken, yaml.BlockMappingStartToken,
)  # fmt: skip
_CLOSES = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_MOST_DEEP = 20
_FREE_TEXT = ("name", "user", "password")  # of a Wi-Fi and a broker: may contain any character
# msgspec's type names in error messages for the owner.
_KINDS = {"object": "names with values", "array": "a list", "str": "one word", "int": "a number"}
_BOOLEANS = {"": False, "yes": True, "true": True, "on": True, "no": False, "false": False,
             "off": False}  # fmt: skip


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of our own format; an unknown key is refused."""


class _Wifi(_Row, frozen=True):
    name: str
    password: str = ""
    hidden: str = ""
    country: str = ""


class _Mqtt(_Row, frozen=True):
    broker: str
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 0
    user: str = ""
    password: str = ""


class Own(_Row, frozen=True):
    hostname: str = ""
    wifi: _Wifi | None = None
    ssh_keys: tuple[str, ...] | str = ()
    timezone: str = ""
    language: str = ""
    mode: str = ""
    card: str = ""
    panel: str = ""
    name: str = ""
    mqtt: _Mqtt | None = None
    model: str = ""
    voice: str = ""
    models: dict[str, OwnModel] = {}


def parse_seed(files: Mapping[str, bytes]) -> Seed:
    """The seed in the files of a card, by name; empty if there is none. Raises SeedRefused.

    A field in several files is taken from the first one in the order above.
    """
    seed = Seed()
    for name, parse in FORMS.items():
        data = files.get(name, b"")
        if not data.strip(b"\0\t\r\n "):  # zeros: a power cut came after the wipe
            continue
        if len(data) > MOST_BYTES:
            raise SeedRefused(f"{name} has {len(data)} bytes; at most {MOST_BYTES} are allowed.")
        try:
            seed = seed.merged_with(parse(_decoded(data)))
        except Exception as error:  # untrusted bytes: every failure becomes a sentence
            raise _refused(name, error) from error
    return seed


def _refused(name: str, error: Exception) -> SeedRefused:
    """Convert an error of reading a file to a sentence for the owner, which quotes no value."""
    match error:
        case SeedRefused():
            return SeedRefused(f"{name}: {error.problem}", error.remedy)
        case UnicodeDecodeError():
            return SeedRefused(f"{name} is no text.")
        case yaml.YAMLError() | RecursionError():
            remedy = "Put words with special characters between 'single quotes'."
            return SeedRefused(f"{name} cannot be read{_line_of(error)}.", remedy)
        case msgspec.ValidationError():
            return SeedRefused(f"{name}: {_translated(str(error))}")
        case BadSeedValue():
            return SeedRefused(f"{name} is not laid out as it should be: {error}.")
    return SeedRefused(f"{name} is not laid out as it should be.")


class BadSeedValue(ValueError):
    """A value of the wrong type; its text is for the owner."""


def _decoded(data: bytes) -> str:
    """Decode a file as editors write it: UTF-8, or UTF-16 with a BOM from Windows' PowerShell."""
    if len(data) > 2 and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def _translated(problem: str) -> str:
    """Convert a message of msgspec to a sentence for the owner. It quotes neither values nor nested
    names, which may be a part of an unquoted password."""
    key_path = re.search(r"at `\$\.([\w.]+)", problem)
    location = f"`{key_path[1]}`" if key_path else "it"
    unknown = re.match(r"Object contains unknown field `(.*?)`", problem, re.DOTALL)
    if unknown and not key_path:
        similar = difflib.get_close_matches(unknown[1], Own.__struct_fields__, 1)
        meant = f" Is it `{similar[0]}`?" if similar else ""
        shown = "".join(letter if letter.isprintable() else "?" for letter in unknown[1][:40])
        return f"There is no `{shown}` to be set.{meant}"
    if unknown:
        return f"There is an unknown name in {location}. Put words in 'single quotes'."
    if missing := re.match(r"Object missing required field `(\w+)`", problem):
        return f"There is no `{missing[1]}` in {location}."
    mismatch = re.match(r"Expected `(\w+)[^`]*`, got `(\w+)", problem)
    if mismatch:
        meant, found = (_KINDS.get(kind, "something else") for kind in mismatch.groups())
        return f"In {location} there should be {meant}, and there is {found}."
    return f"What {location} says cannot be used."


def _line_of(error: BaseException) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1})" if mark is not None else ""


def _own(text: str) -> Seed:
    return _of_own(_yaml(text))


def _of_own(data: Any) -> Seed:
    own = msgspec.convert(_without_empty(data or {}), Own, strict=False)
    wifi, mqtt = own.wifi, own.mqtt
    keys = (own.ssh_keys,) if isinstance(own.ssh_keys, str) else own.ssh_keys
    return Seed(
        hostname=own.hostname,
        wifi=WifiNetwork(wifi.name.encode(), wifi.password, _flag(wifi.hidden)) if wifi else None,
        country=wifi.country.upper() if wifi else "",
        keys=tuple(key.strip() for key in keys),
        timezone=own.timezone,
        language=own.language,
        mode=own.mode,
        card=own.card,
        panel=own.panel,
        name=own.name,
        broker=mqtt.broker if mqtt else "",
        port=mqtt.port if mqtt else 0,
        user=mqtt.user if mqtt else "",
        password=mqtt.password if mqtt else "",
        model=own.model,
        voice=own.voice,
        models=own.models,
    )


def _user_data(text: str) -> Seed:
    """cloud-config: host name, time zone, all users' ssh keys, and our format below `interlude`."""
    data = _dict(_yaml(text))
    users = [data.get("user"), *(data.get("users") or [])]
    keys = [*(data.get("ssh_authorized_keys") or [])]
    for user in users:
        if isinstance(user, dict):
            keys += user.get("ssh_authorized_keys") or []
    own = _of_own(data["interlude"]) if data.get("interlude") else Seed()
    return own.merged_with(
        Seed(
            hostname=_text(data.get("hostname")),
            timezone=_text(data.get("timezone")),
            keys=tuple(_text(key).strip() for key in keys),
        )
    )


def _network(text: str) -> Seed:
    """netplan: the first Wi-Fi with an access point."""
    data = _dict(_yaml(text))
    data = _dict(data.get("network", data))
    for key, radio in _dict(data.get("wifis")).items():
        if key == "renderer":  # Imager 1.9 writes it beside the devices
            continue
        country = _text(_dict(radio).get("regulatory-domain"))
        for name, access_point in _dict(_dict(radio).get("access-points")).items():
            options = _dict(access_point)
            password = _text(options.get("password") or _dict(options.get("auth")).get("password"))
            wifi = WifiNetwork(
                _ssid_bytes(_text(name)), password, _flag(_text(options.get("hidden")))
            )
            return Seed(wifi=wifi, country=country)
    return Seed()


def _yaml(text: str) -> Any:
    """Parse plain YAML. Aliases are refused, since they may expand without limit, and deep nesting,
    since it is slow to parse; no seed needs either."""
    depth = 0
    for token in yaml.scan(text):
        if isinstance(token, yaml.AliasToken):
            raise SeedRefused("It has a YAML alias, which is not supported here.")
        if isinstance(token, yaml.TagToken | yaml.DirectiveToken):
            problem = f"A word in line {token.start_mark.line + 1} begins with a `!` or `%`."
            raise SeedRefused(problem, "Put such words between 'single quotes'.")
        depth += isinstance(token, _OPENS) - isinstance(token, _CLOSES)
        if depth > _MOST_DEEP:
            raise SeedRefused("It is nested too deeply.")
    loader = _StringLoader(text)
    node = loader.get_single_node()
    if node is None:
        return None
    _check_unquoted(node, text)
    return loader.construct_document(node)


def _check_unquoted(node: yaml.Node, text: str, parent: str = "") -> None:
    """Raise SeedRefused for an unquoted name, user or password before a ` #`: YAML takes the rest
    for a comment, and so would cut a password in two. `parent`: the key of `node`."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if not isinstance(value, yaml.ScalarNode):
            _check_unquoted(value, text, str(key.value))
        elif key.value in (_FREE_TEXT if parent in ("wifi", "mqtt") else ("password",)):
            rest = text[value.end_mark.index :].partition("\n")[0]
            if value.style is None and re.match(r"[ \t]+#", rest):
                line = value.end_mark.line + 1
                problem = (
                    f"The {key.value} in line {line} has a ` #` after it: YAML would end it there."
                )
                remedy = f"Put the whole {key.value} between 'single quotes'."
                raise SeedRefused(problem, remedy)


class _StringLoader(yaml.BaseLoader):
    """Loads every scalar as a string. A password of digits, a Wi-Fi called NO, or the country code
    of Norway stay as written. BaseLoader has no constructor for any tag."""


def _without_empty(data: Any) -> Any:
    """Drop top-level keys without a value, such as an empty `wifi:`."""
    if not isinstance(data, dict):
        return data
    names = Own.__struct_fields__
    return {key: value for key, value in data.items() if value != "" or key not in names}


def _flag(text: str) -> bool:
    """Raises BadSeedValue."""
    if text.lower() not in _BOOLEANS:
        raise BadSeedValue("`hidden` is yes or no")
    return _BOOLEANS[text.lower()]


def _dict(found: Any) -> dict[Any, Any]:
    if found is None or found == "":
        return {}
    if not isinstance(found, dict):
        raise BadSeedValue("there is a word or a list in place of names with values")
    return found


def _text(found: Any) -> str:
    if found is None:
        return ""
    if isinstance(found, bool | int | float | str):
        return str(found)
    raise BadSeedValue("there is a list or more in place of one word")


def _ssid_bytes(name: str) -> bytes:
    """The bytes of an SSID. Imager writes each non-ASCII byte as \\xNN, which YAML reads as a
    character."""
    try:
        raw = name.encode("latin-1")
        raw.decode("utf-8")
    except UnicodeError:
        return name.encode()
    return raw


FORMS: dict[str, Callable[[str], Seed]] = {
    "interlude.yaml": _own,
    "user-data": _user_data,
    "network-config": _network,
}
# Written by Imager for images that ask for them. Ours does not, so an owner put such a file there.
FOREIGN = ("custom.toml", "firstrun.sh", "rpi-preseed.toml")
# Not read, and wiped with the others.
BESIDE = ("meta-data",)
