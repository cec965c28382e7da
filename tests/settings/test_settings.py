"""Settings: what an owner may write, and what is said when it cannot be used."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import SettingsError
from appliance.settings import (
    DEFAULTS,
    Section,
    Settings,
    adjusted,
    changed,
    load,
    load_defaults,
)


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings of whoever runs it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, text))
    assert caught.value.exit_code == 78
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


# ── what is accepted ─────────────────────────────────────────────────────────────────────────
def test_an_owners_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "hearing: {turn: {end_ms: 700}}\ncard: {period_ms: 4}\n"))
    assert changed(settings) == {"card.period_ms": 4, "hearing.turn.end_ms": 700}


def test_a_file_without_a_line_changes_nothing(tmp_path: Path) -> None:
    assert load(written(tmp_path, "# later\n")) == load_defaults()


def test_overrides_go_over_the_owners_file(tmp_path: Path) -> None:
    path = written(tmp_path, "card: {period_ms: 4, capture: hw:A}\n")
    card = load(path, {"card": {"period_ms": 8}}).card
    assert (card.period_ms, card.capture) == (8, "hw:A")


def test_the_users_own_file_is_found_by_the_rules_of_xdg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "config" / "interlude"
    folder.mkdir(parents=True)
    (folder / "settings.yaml").write_text("log: debug\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert load().log == "debug"


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"STATE_DIRECTORY": "/var/lib/interlude:/other"}, "/var/lib/interlude"),
        ({"XDG_STATE_HOME": "/home/a/state"}, "/home/a/state/interlude"),
        ({"HOME": "/home/b"}, "/home/b/.local/state/interlude"),
    ],
)
def test_the_state_lives_where_systemd_or_xdg_says(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], folder: str
) -> None:
    for name in ("STATE_DIRECTORY", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert load_defaults().state_path() == Path(folder)


def test_the_state_lives_where_the_owner_says_first_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/interlude")
    settings = load(overrides={"state_dir": "/mnt/box"})
    assert settings.state_path() == Path("/mnt/box")


@pytest.mark.parametrize(
    ("state", "own", "folder"),
    [
        ("/var/lib/interlude", "", "/var/lib/interlude-models"),  # a box: of another user
        ("/home/a/state", "", "/home/a/state/models"),
        ("/var/lib/interlude", "/mnt/models", "/mnt/models"),
    ],
)
def test_the_models_lie_apart_on_a_box_and_beside_the_state_elsewhere(
    state: str, own: str, folder: str
) -> None:
    settings = load(overrides={"state_dir": state, "models_dir": own})
    assert settings.models_path() == Path(folder)


# ── what is refused ──────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hearing: {turn: {end_mss: 700}}",
         "no setting `hearing.turn.end_mss`. Did you mean `hearing.turn.end_ms`?"),
        ("model: mine", "no setting `model`. Did you mean `thinking.model`?"),
        ("crad: {period_ms: 4}", "no setting `crad`. Did you mean `card`?"),
        ("xyzzy: 1", "no setting `xyzzy`. See `interlude config`."),
        ("card: {period_ms: five}", "`card.period_ms`: expected `int`, got `str`"),
        ("card: {period_ms: 5 ms}", "`card.period_ms`: expected `int`, got `str`"),
        ("card: {period_ms: 4.5}", "`card.period_ms`: expected `int`, got `float`"),
        ("card: {period_ms: 1}", "`card.period_ms`: expected `int` >= 2"),
        ("card: {rate_hz: 44100}",
         "`card.rate_hz`: invalid enum value 44100. There are 0, 16000, 32000, 48000, 96000."),
        ("hearing: {echo: {canceller: speex}}", "`hearing.echo.canceller`: invalid enum value "
         "'speex'. There are auto, kalman, hardware, none."),
        ("speaking: {volume: 80}", "`speaking.volume`: expected `float` <= 1.0"),
        ("speaking: {volume: .nan}", "`speaking.volume`"),
        ("hearing: {turn: {piece_s: .inf}}", "`hearing.turn.piece_s`"),
        ("log: loud", "`log`: invalid enum value 'loud'. There are debug, info"),
        ("hearing: {words: {yield: [no]}}", "got `bool`. Put \"yes\" and \"no\" in quotes."),
        ("hearing: {words: {yield: [Wait!]}}", "`Wait!` in the list `yield` is not words in lower"),
        ("hearing: {words: {yield: [okay]}}", "`okay` cannot both interrupt and be in the list"),
        ("hearing: {words: {stop: [right]}}", "`right` cannot both interrupt and be in the list"),
        ("hearing: {words: {carry_on: [hm, hm]}}", "`hm` is twice in the list `carry_on`"),
        ("hearing: {wake: {phrase: Hey You}}", "the phrase `Hey You` is not words in lower case"),
        ("card: 5", "`card` must hold `key: value` lines."),
        ("card:", "`card` must hold `key: value` lines."),
        ("processes: {thinker: {core: [1]}}", "`processes.thinker`: object contains unknown field"),
        ("processes: {thinker: {priority: 99}}", "`processes.thinker.priority`"),
        ("processes: {thinker: fast}", "`processes.thinker`: expected `object`, got `str`"),
        ("- card", "must hold `key: value` lines, not a list."),
        ("just words", "must hold `key: value` lines, not a str."),
        ("card: {period_ms: 4", "is not YAML near line"),
        ("card:\n\tperiod_ms: 4\n", "is not YAML near line 2. Check the indentation there."),
        ("card: 2024-13-45", "is not YAML"),
        ("[" * 5000, "is not YAML"),
        (b"persona: caf\xe9\n", "is not UTF-8 text."),
        (b"\x00\x01\x02", "is not YAML"),
    ],
)  # fmt: skip
def test_what_does_not_belong_is_said_in_one_sentence(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    sentence = refused(tmp_path, text)
    assert said in sentence
    assert str(tmp_path) in sentence


def test_a_missing_file_that_was_named_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path / "gone.yaml")


def test_a_folder_is_no_settings_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["card", "mode", "hearing", "echo"]), inner, max_size=3),
    max_leaves=8,
))  # fmt: skip
def test_any_yaml_is_settings_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, tree: Any
) -> None:
    path = tmp_path_factory.mktemp("any") / "settings.yaml"
    path.write_text(yaml.safe_dump(tree), encoding="utf-8")
    with contextlib.suppress(SettingsError):
        assert isinstance(load(path), Settings)


# ── the file of defaults ─────────────────────────────────────────────────────────────────────
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


# ── what was set from outside ────────────────────────────────────────────────────────────────
def in_state(folder: Path, text: str = "", **adjusted_to: Any) -> Settings:
    """Settings whose state lies in `folder`, where that was set."""
    values = {key: {"value": value, "file": was} for key, (value, was) in adjusted_to.items()}
    (folder / adjusted.FILE).write_bytes(msgspec.json.encode({"version": 1, **values}))
    return load(written(folder, f"state_dir: {folder}\n{text}"))


def test_what_was_set_counts_while_the_file_says_what_it_said_then(tmp_path: Path) -> None:
    files = in_state(
        tmp_path, "speaking: {voice: amy}", mode=("wake_word", "open"), volume=(0.43, 0.8),
        voice=("joe", "espeak"),
    )  # fmt: skip
    now = adjusted.adjusted(files)
    assert (now.mode, now.speaking.volume) == ("wake_word", 0.43)
    assert now.speaking.voice == "amy"  # the owner has edited that line since
    assert adjusted.names(files) == {"mode": "open", "speaking.volume": 0.8}
    assert now.hearing == files.hearing


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff", b'{"version":2}', b'{"volume":{"value":1.5,"file":0.8}}',
     b'{"volume":{"value":"loud","file":0.8}}', b'{"mode":{"value":"deaf","file":"open"}}',
     b'{"voice":{"value":"","file":"auto"}}', b'{"volume":{"value":NaN,"file":0.8}}'],
)  # fmt: skip
def test_a_damaged_file_of_what_was_set_leaves_the_settings_as_they_are(
    tmp_path: Path, content: bytes
) -> None:
    files = load(written(tmp_path, f"state_dir: {tmp_path}"))
    (tmp_path / adjusted.FILE).write_bytes(content)
    assert adjusted.adjusted(files) == files
    kept = adjusted.AdjustmentStore(files)
    [complaint] = kept.complaints()
    assert "damaged" in complaint
    kept.follow("wake_word", 0.3, "amy")
    kept.request_stop()
    kept.join()
    now = adjusted.adjusted(files)
    assert (now.mode, now.speaking.volume, now.speaking.voice) == ("wake_word", 0.3, "amy")


def test_what_is_set_back_to_the_files_value_is_no_longer_set(tmp_path: Path) -> None:
    files = in_state(tmp_path, volume=(0.43, 0.8), voice=("joe", "auto"))
    kept = adjusted.AdjustmentStore(files)
    kept.follow(files.mode, 0.8, "")
    kept.request_stop()
    kept.join()
    assert adjusted.names(files) == {}


@pytest.mark.parametrize(
    ("given", "kept_as"), [(-1.0, 0.0), (7.0, 1.0), (float("nan"), 0.8), (float("inf"), 0.8)]
)
def test_a_volume_that_is_none_is_not_kept_as_it_came(
    tmp_path: Path, given: float, kept_as: float
) -> None:
    files = load(written(tmp_path, f"state_dir: {tmp_path}"))
    kept = adjusted.AdjustmentStore(files)
    kept.follow(files.mode, given, None)
    kept.request_stop()
    kept.join()
    assert adjusted.adjusted(files).speaking.volume == kept_as


def test_dev_null_as_the_settings_file_is_the_defaults_alone() -> None:
    assert load(Path(os.devnull)) == load_defaults()
