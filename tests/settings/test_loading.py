"""Loading the owner's file: which values are accepted, and the error for each that is not."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import SettingsError
from appliance.settings import Settings, changed, load, load_defaults
from tests.settings.written import refused, written


# ── accepted values ──────────────────────────────────────────────────────────────────────────────
def test_an_owners_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "hearing: {turn: {end_ms: 700}}\ncard: {period_ms: 4}\n"))
    assert changed(settings) == {"card.period_ms": 4, "hearing.turn.end_ms": 700}


def test_a_file_without_settings_changes_nothing(tmp_path: Path) -> None:
    assert load(written(tmp_path, "# later\n")) == load_defaults()


def test_one_load_does_not_affect_the_next(tmp_path: Path) -> None:
    before = load_defaults()
    owners = written(tmp_path, "card: {period_ms: 4}\nprocesses: {words: {nice: 3}}\n")
    assert load(owners) != before
    assert load(Path(os.devnull)) == load_defaults() == before


def test_a_key_that_was_renamed_is_read_under_its_old_name(tmp_path: Path) -> None:
    old = load(written(tmp_path, "hearing: {onset: {steps: 3}}\n"))
    new = load(written(tmp_path, "hearing: {onset: {blocks: 3}}\n"))
    assert old == new != load_defaults()
    assert changed(old) == {"hearing.onset.blocks": 3}


def test_a_renamed_key_beside_its_new_one_is_refused(tmp_path: Path) -> None:
    both = written(tmp_path, "hearing: {onset: {steps: 3, blocks: 2}}\n")
    with pytest.raises(SettingsError, match=r"no setting `hearing\.onset\.steps`"):
        load(both)


def test_overrides_take_precedence_over_the_owners_file(tmp_path: Path) -> None:
    path = written(tmp_path, "card: {period_ms: 4, capture: hw:A}\n")
    card = load(path, {"card": {"period_ms": 8}}).card
    assert (card.period_ms, card.capture) == (8, "hw:A")


# ── refused values ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hearing: {turn: {end_mss: 700}}",
         "no setting `hearing.turn.end_mss`. Did you mean `hearing.turn.end_ms`?"),
        ("hearing: {turn: {ask_ms: [500, 200]}}", "the moments of `ask_ms` do not rise"),
        ("hearing: {turn: {sure: 0.1}}", "`likely` is more than `sure`"),
        ("hearing: {turn: {unsure_ms: 1500}}", "`unsure_ms` and `unlikely_ms` do not rise"),
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
def test_each_mistake_is_reported_in_one_sentence(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    sentence = refused(tmp_path, text)
    assert message in sentence
    assert str(tmp_path) in sentence


def test_a_named_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path / "gone.yaml")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["card", "mode", "hearing", "echo"]), inner, max_size=3),
    max_leaves=8,
))  # fmt: skip
@pytest.mark.long
def test_any_yaml_loads_or_raises_settings_error(
    tmp_path_factory: pytest.TempPathFactory, tree: Any
) -> None:
    path = tmp_path_factory.mktemp("any") / "settings.yaml"
    path.write_text(yaml.safe_dump(tree), encoding="utf-8")
    with contextlib.suppress(SettingsError):
        assert isinstance(load(path), Settings)


def test_dev_null_as_the_settings_file_gives_the_defaults() -> None:
    assert load(Path(os.devnull)) == load_defaults()
