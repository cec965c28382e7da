"""The forms in which a new card may carry a seed: files on its first partition → one Seed.

interlude.yaml                     our own; docs/flash.md has it
user-data, network-config          cloud-init's, as Raspberry Pi Imager writes them

Imager 2 writes those by the list that comes with the image (image/imager.py); Imager 1.7 to 1.9
write them to each image that has no issue.txt of Raspberry Pi OS. What they have in it:
raspberrypi/rpi-imager, src/customization_generator.cpp (2.0.11), src/OptionsPopup.qml (1.9.6). What
we have no use for (users, passwords, packages, commands) is passed over.
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
_WHOLE = ("name", "user", "password")  # of a Wi-Fi and a broker: any sign may be in them
# msgspec's, in words.
_KINDS = {"object": "names with values", "array": "a list", "str": "one word", "int": "a number"}
_YES_OR_NO = {"": False, "yes": True, "true": True, "on": True, "no": False, "false": False,
              "off": False}  # fmt: skip


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of our own form: a key that is not known is refused."""


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
    """The seed in files of a card, by their names; empty if there is none. Raises SeedRefused.

    Where two forms say something, the one that is named first above counts.
    """
    seed = Seed()
    for name, form in FORMS.items():
        data = files.get(name, b"")
        if not data.strip(b"\0\t\r\n "):  # zeros: wiped, and then the power went
            continue
        if len(data) > MOST_BYTES:
            raise SeedRefused(f"{name} has {len(data)} bytes: too many to be what it is called.")
        try:
            seed = seed.merged_with(form(_decoded(data)))
        except Exception as error:  # untrusted bytes: whatever fails is told as a sentence
            raise _refused(name, error) from error
    return seed


def _refused(name: str, error: Exception) -> SeedRefused:
    """The result of reading a file, as a sentence for the owner. No value is repeated."""
    match error:
        case SeedRefused():
            return SeedRefused(f"{name}: {error.problem}", error.remedy)
        case UnicodeDecodeError():
            return SeedRefused(f"{name} is no text.")
        case yaml.YAMLError() | RecursionError():
            remedy = "Words with signs in them stand between 'single quotes'."
            return SeedRefused(f"{name} cannot be read{_where(error)}.", remedy)
        case msgspec.ValidationError():
            return SeedRefused(f"{name}: {_in_words(str(error))}")
        case BadSeedValue():
            return SeedRefused(f"{name} is not laid out as it should be: {error}.")
    return SeedRefused(f"{name} is not laid out as it should be.")


class BadSeedValue(ValueError):
    """A word of ours about what stands where something else should."""


def _decoded(data: bytes) -> str:
    """As editors write it; that of Windows and its PowerShell may take two bytes a letter."""
    if len(data) > 2 and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def _in_words(problem: str) -> str:
    """What msgspec finds wrong, as a sentence for the owner. Values are not repeated, nor
    names among which a piece of an unquoted password may be."""
    place = re.search(r"at `\$\.([\w.]+)", problem)
    where = f"`{place[1]}`" if place else "it"
    unknown = re.match(r"Object contains unknown field `(.*?)`", problem, re.DOTALL)
    if unknown and not place:
        near = difflib.get_close_matches(unknown[1], Own.__struct_fields__, 1)
        meant = f" Is it `{near[0]}`?" if near else ""
        said = "".join(letter if letter.isprintable() else "?" for letter in unknown[1][:40])
        return f"There is no `{said}` to be set.{meant}"
    if unknown:
        return f"There is a name in {where} that says nothing there. Put words in 'single quotes'."
    if missing := re.match(r"Object missing required field `(\w+)`", problem):
        return f"There is no `{missing[1]}` in {where}."
    kinds = re.match(r"Expected `(\w+)[^`]*`, got `(\w+)", problem)
    if kinds:
        meant, found = (_KINDS.get(kind, "something else") for kind in kinds.groups())
        return f"In {where} there should be {meant}, and there is {found}."
    return f"What {where} says cannot be used."


def _where(error: BaseException) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1})" if mark is not None else ""


def _own(text: str) -> Seed:
    return _of_own(_yaml(text))


def _of_own(said: Any) -> Seed:
    own = msgspec.convert(_filled(said or {}), Own, strict=False)
    wifi, mqtt = own.wifi, own.mqtt
    keys = (own.ssh_keys,) if isinstance(own.ssh_keys, str) else own.ssh_keys
    return Seed(
        hostname=own.hostname,
        wifi=WifiNetwork(wifi.name.encode(), wifi.password, _yes(wifi.hidden)) if wifi else None,
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
    """Of cloud-config: host name, time zone, keys of whoever may log in; ours as `interlude`."""
    said = _dict(_yaml(text))
    people = [said.get("user"), *(said.get("users") or [])]
    keys = [*(said.get("ssh_authorized_keys") or [])]
    for person in people:
        if isinstance(person, dict):
            keys += person.get("ssh_authorized_keys") or []
    own = _of_own(said["interlude"]) if said.get("interlude") else Seed()
    return own.merged_with(
        Seed(
            hostname=_text(said.get("hostname")),
            timezone=_text(said.get("timezone")),
            keys=tuple(_text(key).strip() for key in keys),
        )
    )


def _network(text: str) -> Seed:
    """Of netplan's: the first Wi-Fi that is named."""
    said = _dict(_yaml(text))
    said = _dict(said.get("network", said))
    for key, radio in _dict(said.get("wifis")).items():
        if key == "renderer":  # of Imager 1.9, beside the radio
            continue
        country = _text(_dict(radio).get("regulatory-domain"))
        for name, point in _dict(_dict(radio).get("access-points")).items():
            at = _dict(point)
            password = _text(at.get("password") or _dict(at.get("auth")).get("password"))
            wifi = WifiNetwork(_octets(_text(name)), password, _yes(_text(at.get("hidden"))))
            return Seed(wifi=wifi, country=country)
    return Seed()


def _yaml(text: str) -> Any:
    """Plain YAML. One that refers to itself may grow without end, a deep one takes its time to
    read, and none of these do either."""
    depth = 0
    for token in yaml.scan(text):
        if isinstance(token, yaml.AliasToken):
            raise SeedRefused("A part of it refers to another, which is not understood here.")
        if isinstance(token, yaml.TagToken | yaml.DirectiveToken):
            problem = f"A word in line {token.start_mark.line + 1} begins with a `!` or `%`."
            raise SeedRefused(problem, "Such words stand between 'single quotes'.")
        depth += isinstance(token, _OPENS) - isinstance(token, _CLOSES)
        if depth > _MOST_DEEP:
            raise SeedRefused("It is nested deeper than any seed is.")
    loader = _Words(text)
    node = loader.get_single_node()
    if node is None:
        return None
    _uncut(node, text)
    return loader.construct_document(node)


def _uncut(node: yaml.Node, text: str, of: str = "") -> None:
    """YAML takes what follows a ` #` for a remark, and so would cut a password in two. Raises
    SeedRefused for such a word that no quotes hold. `of`: the key that the node stands behind."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if not isinstance(value, yaml.ScalarNode):
            _uncut(value, text, str(key.value))
        elif key.value in (_WHOLE if of in ("wifi", "mqtt") else ("password",)):
            behind = text[value.end_mark.index :].partition("\n")[0]
            if value.style is None and re.match(r"[ \t]+#", behind):
                line = value.end_mark.line + 1
                problem = (
                    f"The {key.value} in line {line} has a ` #` behind it, and would end there."
                )
                remedy = f"Put the whole {key.value} between 'single quotes'."
                raise SeedRefused(problem, remedy)


class _Words(yaml.BaseLoader):
    """Words, lists and names only. A password of digits, a Wi-Fi called NO, a country that is
    Norway: as they are written. BaseLoader has no constructor of any tag."""


def _filled(said: Any) -> Any:
    """Without what was left open: `wifi:` and nothing behind it."""
    if not isinstance(said, dict):
        return said
    names = Own.__struct_fields__
    return {key: value for key, value in said.items() if value != "" or key not in names}


def _yes(text: str) -> bool:
    """Raises BadSeedValue."""
    if text.lower() not in _YES_OR_NO:
        raise BadSeedValue("`hidden` is yes or no")
    return _YES_OR_NO[text.lower()]


def _dict(found: Any) -> dict[Any, Any]:
    if found is None or found == "":
        return {}
    if not isinstance(found, dict):
        raise BadSeedValue("a word or a list stands where names and values should")
    return found


def _text(found: Any) -> str:
    if found is None:
        return ""
    if isinstance(found, bool | int | float | str):
        return str(found)
    raise BadSeedValue("a list or more stands where one word should")


def _octets(name: str) -> bytes:
    """Imager writes each byte of a name that is no ASCII as \\xNN, which YAML reads as a letter."""
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
# Imager's, for images that ask for them: ours does not, so nobody but an owner brings one.
FOREIGN = ("custom.toml", "firstrun.sh", "rpi-preseed.toml")
# Nothing is read of it, and it goes with the others.
BESIDE = ("meta-data",)
