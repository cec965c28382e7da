"""Seeds and values that several tests use."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import yaml

from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.seed_files import plan

KEY = (
    "ssh-ed25519 "
    + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(range(32))).decode()
    + " anna@home"
)
SECRET = "p\\a\"s's"  # noqa: S105  # an invented password

WHOLE = Seed(
    hostname="kitchen", wifi=WifiNetwork(b"Home", "correct horse"), country="DE", keys=(KEY,),
    timezone="Europe/Berlin", language="de", mode="wake_word", card="plughw:CARD=Jabra",
    panel="header", name="Kitchen", broker="homeassistant.local",
    user="interlude", password=SECRET,
)  # fmt: skip


def tree(base: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below `base` with its mode and bytes; for a link, its target."""
    found = {}
    for path in sorted(base.rglob("*")):
        name = str(path.relative_to(base))
        if path.is_symlink():
            found[name] = (0, os.fsencode(path.readlink()))
        elif path.is_file():
            found[name] = (path.stat().st_mode & 0o777, path.read_bytes())
    return found


SHIPPED = (Path(__file__).parents[2] / "system/etc/interlude/settings.yaml").read_text()


def can_be_applied(seed: Seed) -> None:
    """Assert that every file of the seed can be encoded, and that its settings can be parsed."""
    for file in plan(seed, SHIPPED):
        data = file.text.encode()
        if file.path.endswith("settings.yaml"):
            assert isinstance(yaml.safe_load(data), dict)


MEANT = Seed(
    wifi=WifiNetwork(b"Home & garden", "correct horse"), country="DE", broker="homeassistant.local",
    user="interlude", password='p"\\s', mode="wake_word", model="gemma-4-e2b",
    card="plughw:CARD=Jabra", panel="header", language="de",
)  # fmt: skip
