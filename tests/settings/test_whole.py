"""Which settings file is in effect, where state and models are stored; defaults are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from appliance.settings import (
    DEFAULTS,
    SYSTEM_FILE,
    Section,
    Settings,
    ignored_file,
    load,
    load_defaults,
    owner_file,
    user_file,
)


# ── files and folders ────────────────────────────────────────────────────────────────────────────
def test_the_users_own_file_is_found_by_the_rules_of_xdg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "config" / "interlude"
    folder.mkdir(parents=True)
    (folder / "settings.yaml").write_text("log: debug\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert load().log == "debug"


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_a_box_obeys_no_settings_file_that_a_part_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A part writes a settings file into the state folder, wherever the environment points."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    assert ignored_file() is None
    config = tmp_path / ".config"
    monkeypatch.setenv(variable, str(config if variable == "XDG_CONFIG_HOME" else tmp_path))
    planted = config / "interlude/settings.yaml"
    planted.parent.mkdir(parents=True)
    planted.write_text("page: {unmute: true}\ntools: {confirm: []}\n")
    assert user_file() == planted
    assert owner_file() != planted
    assert ignored_file() == planted
    if not SYSTEM_FILE.exists():
        assert load() == load_defaults()
    monkeypatch.delenv("STATE_DIRECTORY")
    assert (owner_file(), ignored_file()) == (planted, None), "a development machine"


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"STATE_DIRECTORY": "/var/lib/interlude:/other"}, "/var/lib/interlude"),
        ({"XDG_STATE_HOME": "/home/a/state"}, "/home/a/state/interlude"),
        ({"HOME": "/home/b"}, "/home/b/.local/state/interlude"),
    ],
)
def test_the_state_directory_follows_systemd_or_xdg(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], folder: str
) -> None:
    for name in ("STATE_DIRECTORY", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert load_defaults().state_path() == Path(folder)


def test_the_owners_state_dir_takes_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/interlude")
    settings = load(overrides={"state_dir": "/mnt/box"})
    assert settings.state_path() == Path("/mnt/box")


@pytest.mark.parametrize(
    ("state", "own", "folder"),
    [
        ("/var/lib/interlude", "", "/var/lib/interlude-models"),  # a box: owned by another user
        ("/home/a/state", "", "/home/a/state/models"),
        ("/var/lib/interlude", "/mnt/models", "/mnt/models"),
    ],
)
def test_models_are_apart_from_the_state_on_a_box_and_inside_it_elsewhere(
    state: str, own: str, folder: str
) -> None:
    settings = load(overrides={"state_dir": state, "models_dir": own})
    assert settings.models_path() == Path(folder)


# ── the file of defaults ─────────────────────────────────────────────────────────────────────────
def typed_keys(section: type[Section], prefix: str = "") -> set[str]:
    keys = set()
    for field in msgspec.structs.fields(section):
        if isinstance(field.type, type) and issubclass(field.type, Section):
            keys |= typed_keys(field.type, f"{prefix}{field.encode_name}.")
        else:
            keys.add(f"{prefix}{field.encode_name}")
    return keys


def written_keys(tree: dict[str, Any], prefix: str = "") -> set[str]:
    keys = set()
    for key, value in tree.items():
        nested = isinstance(value, dict) and value
        keys |= written_keys(value, f"{prefix}{key}.") if nested else {f"{prefix}{key}"}
    return keys


def test_every_typed_setting_has_a_default_and_every_default_a_type() -> None:
    assert written_keys(yaml.safe_load(DEFAULTS.read_text())) == typed_keys(Settings)


def test_every_default_has_its_unit_and_reason_beside_it() -> None:
    values = [line for line in DEFAULTS.read_text().splitlines() if re.match(r" *\w+: +\S", line)]
    assert len(values) == len(typed_keys(Settings))
    bare = [line for line in values if "#" not in line and not line.startswith("  persona:")
            and not line.startswith("log:")]  # fmt: skip
    assert bare == []
