"""Settings: what an owner may write, and what is said when it cannot be used."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from appliance import processes
from appliance.errors import SettingsError
from appliance.settings import DEFAULTS, Section, Settings, changed, load, load_defaults
from appliance.verbs import config as effective


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


def test_a_row_of_the_process_table_can_be_changed(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "processes: {thinker: {cores: [1, 2, 3], nice: -5}}\n"))
    thinker = next(row for row in processes.table(settings) if row.name == "thinker")
    assert (thinker.cores, thinker.nice) == ((1, 2, 3), -5)


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


# ── what is refused ──────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hearing: {turn: {end_mss: 700}}",
         "no setting `hearing.turn.end_mss`. Did you mean `hearing.turn.end_ms`?"),
        ("crad: {period_ms: 4}", "no setting `crad`. Did you mean `card`?"),
        ("xyzzy: 1", "no setting `xyzzy`. See `interlude config`."),
        ("card: {period_ms: five}", "`card.period_ms`: expected `int`, got `str`"),
        ("card: {period_ms: 5 ms}", "`card.period_ms`: expected `int`, got `str`"),
        ("card: {period_ms: 4.5}", "`card.period_ms`: expected `int`, got `float`"),
        ("card: {period_ms: 1}", "`card.period_ms`: expected `int` >= 2"),
        ("card: {rate_hz: 44100}", "`card.rate_hz`: invalid enum value 44100"),
        ("speaking: {volume: 80}", "`speaking.volume`: expected `float` <= 1.0"),
        ("speaking: {volume: .nan}", "`speaking.volume`"),
        ("hearing: {turn: {piece_s: .inf}}", "`hearing.turn.piece_s`"),
        ("log: loud", "`log`: invalid enum value 'loud'"),
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


def test_a_process_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "processes: {tinker: {nice: 1}}\n"))
    with pytest.raises(SettingsError, match=r"processes\.tinker.*There are .*thinker"):
        processes.table(settings)


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


# ── `interlude config` ───────────────────────────────────────────────────────────────────────
OWNERS = """
card: {period_ms: 4, capture: "plughw:CARD=Array", playback: "plughw:CARD=Array"}
thinking: {persona: "Say: 'yes' # or no\\nand smile", temperature: 0.7}
processes: {thinker: {cores: [1, 2, 3]}}
"""


def test_what_config_prints_can_be_loaded_again(tmp_path: Path) -> None:
    settings = load(written(tmp_path, OWNERS))
    assert load(written(tmp_path, effective.whole(settings))) == settings


def test_what_config_prints_keeps_every_reason_and_marks_what_is_changed(tmp_path: Path) -> None:
    printed = effective.whole(load(written(tmp_path, OWNERS)))
    line = next(line for line in printed.splitlines() if "period_ms" in line)
    assert line.split("#")[0].split() == ["period_ms:", "4"]
    assert "the step of everything" in line
    assert line.endswith("[default: 5]")
    assert "[default" not in effective.whole(load_defaults())


def test_config_changed_lists_only_what_differs(tmp_path: Path) -> None:
    assert effective.changes(load_defaults()) == ""
    printed = effective.changes(load(written(tmp_path, OWNERS)))
    assert [line.split(":")[0] for line in printed.splitlines()] == [
        "card.capture", "card.playback", "card.period_ms", "thinking.persona",
        "thinking.temperature", "processes.thinker.cores",
    ]  # fmt: skip


def test_config_names_the_file_in_effect(tmp_path: Path) -> None:
    assert effective.source(tmp_path / "mine.yaml").endswith("mine.yaml")
    assert effective.source(None).startswith("# The defaults")
