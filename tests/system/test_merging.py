"""The fleet's settings merged into those of a box. Settings of a seed or owner stay unless the
inventory names them, and the difference that the play shows contains no secret."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from appliance.settings import load

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "ansible/roles/settings/filter_plugins/merging.py"
SHIPPED = (ROOT / "system/etc/interlude/settings.yaml").read_text()
SEED = """\
# Mine.

mode: wake_word
link:
  broker: homeassistant.local
  name: Kitchen
thinking:
  model: gemma-4-e2b
"""


def plugin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("merging", PLUGIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MERGING = plugin()


def merge(now: str, *wanted: Mapping[str, Any]) -> str:
    return str(MERGING.merged_settings(now, *wanted))


def shown(now: str, then: str) -> list[str]:
    return list(MERGING.settings_difference(now, then))


def test_settings_of_a_seed_stay_unless_the_inventory_names_them() -> None:
    then = merge(SEED, {"mode": "open", "link": {"user": "interlude"}})
    assert yaml.safe_load(then) == {
        "mode": "open",
        "link": {"broker": "homeassistant.local", "name": "Kitchen", "user": "interlude"},
        "thinking": {"model": "gemma-4-e2b"},
    }
    assert then.startswith("# Mine.\n")
    assert shown(SEED, then) == ["mode: wake_word -> open", "link.user: (not set) -> interlude"]


ALREADY_SO: list[dict[str, Any]] = [
    {}, {"mode": "wake_word"}, {"link": {"name": "Kitchen"}}, {"speaking": None},
    {"link": {"port": None}}, {"link": {}},
]  # fmt: skip


@pytest.mark.parametrize("wanted", ALREADY_SO)
def test_an_inventory_that_changes_nothing_leaves_every_byte(wanted: dict[str, Any]) -> None:
    assert merge(SEED, wanted) == SEED
    assert shown(SEED, SEED) == []


def test_null_removes_a_key() -> None:
    then = merge(SEED, {"mode": None, "link": {"broker": None, "name": None}})
    assert yaml.safe_load(then) == {"thinking": {"model": "gemma-4-e2b"}}
    assert "link.broker: homeassistant.local -> (not set)" in shown(SEED, then)


def test_host_variables_override_those_of_the_group_key_by_key() -> None:
    group = {"mode": "open", "link": {"user": "all", "port": 1883}}
    own = {"link": {"user": "kitchen"}, "mode": None}
    then = yaml.safe_load(merge(SEED, group, own))
    assert then["link"] == {
        "broker": "homeassistant.local", "name": "Kitchen", "user": "kitchen", "port": 1883,
    }  # fmt: skip
    assert "mode" not in then


def test_a_list_is_replaced_as_a_whole() -> None:
    now = "hearing: {stop_words: [stop, enough]}\n"
    then = merge(now, {"hearing": {"stop_words": ["halt"]}})
    assert yaml.safe_load(then) == {"hearing": {"stop_words": ["halt"]}}


def test_a_box_without_settings_gets_the_comment_of_the_shipped_file() -> None:
    then = merge(SHIPPED, {"mode": "open"})
    assert then.startswith("# The owner's settings: only those that differ")
    assert yaml.safe_load(then) == {"mode": "open"}


def test_the_header_of_an_earlier_version_is_removed() -> None:
    header = "# Written by Ansible; change it there. `interlude config` lists every setting.\n"
    now = f"{header}mode: open\n"
    then = merge(now, {"mode": "wake_word"})
    assert then == "mode: wake_word\n"
    assert merge(then, {"mode": None}) == "{}\n"


@pytest.mark.parametrize("now", ["- a list\n", "mode: [open\n", "just words\n", "a: 2026-13-01\n"])
def test_an_invalid_settings_file_is_refused_and_not_replaced(now: str) -> None:
    with pytest.raises(ValueError, match="settings on the box"):
        merge(now, {"mode": "open"})


def test_the_merged_settings_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(merge(SEED, {"thinking": {"remote": {"url": "http://ollama:11434/v1"}}}))
    assert load(path).thinking.model == "gemma-4-e2b"
    assert load(path).link.name == "Kitchen"


@pytest.mark.parametrize(
    ("now", "wanted", "secret"),
    [
        ("", {"thinking": {"remote": {"url": "http://me:hunter2@box:11434/v1"}}}, "hunter2"),
        ("thinking: {remote: {url: 'https://me:hunter2@box/v1'}}\n", {"thinking": None}, "hunter2"),
        ("", {"link": {"password": "hunter2"}}, "hunter2"),
        ("", {"thinking": {"api_key": "hunter2"}}, "hunter2"),
    ],
)
def test_no_secret_is_in_the_difference(now: str, wanted: dict[str, Any], secret: str) -> None:
    lines = "\n".join(shown(now, merge(now, wanted)))
    assert lines
    assert secret not in lines
    assert MERGING.MASK in lines


def test_values_that_are_no_secrets_are_shown() -> None:
    wanted = {"thinking": {"answer_tokens": 300, "remote": {"key_file": "/run/key"}}}
    assert shown("", merge("", wanted)) == [
        "thinking.answer_tokens: (not set) -> 300",
        "thinking.remote.key_file: (not set) -> /run/key",
    ]


def test_the_loss_of_comments_is_reported() -> None:
    now = "mode: open  # as my aunt likes it\n"
    assert "(comments between the lines of the file are not kept)" in shown(
        now, merge(now, {"mode": "wake_word"})
    )


def test_a_changed_secret_is_named_but_not_shown() -> None:
    same, other = (sha256(f"{word}\n".encode()).hexdigest() for word in ("same", "other"))
    wanted = {"a": "same", "b": "new", "c": "changed", "d": None, "e": "", "f": None}
    found = {"a": same, "c": other, "d": other, "e": other}
    assert MERGING.secrets_difference(wanted, found) == [
        "secret b: (not set) -> (not shown)",
        "secret c: (not shown) -> (not shown)",
        "secret d: (not shown) -> (not set)",
    ]


def test_before_the_first_release_the_model_is_not_set() -> None:
    wanted = {"mode": "open", "thinking": {"model": "gemma-4-e2b", "threads": 3}}
    assert MERGING.without_model(wanted) == {"mode": "open", "thinking": {"threads": 3}}
    assert merge(SEED, MERGING.without_model({"thinking": {"model": "pocket"}})) == SEED
    for same in ({}, {"thinking": None}, {"thinking": "words"}, {"mode": "open"}):
        assert MERGING.without_model(same) == same


class Tagged(str):  # like Ansible's own strings, which are a subclass with further attributes
    pass


def test_ansibles_own_value_types_become_plain_ones() -> None:
    then = merge("", {Tagged("mode"): Tagged("open"), "hearing": {"stop_words": (Tagged("halt"),)}})
    assert yaml.safe_load(then) == {"mode": "open", "hearing": {"stop_words": ["halt"]}}
    with pytest.raises(ValueError, match="no value"):
        merge("", {"mode": object()})


KEYS = st.text("abc", min_size=1, max_size=2)
LEAVES = st.one_of(
    st.booleans(), st.integers(), st.text("a é\x85#:", max_size=4), st.just([1, "b"])
)
TREES = st.recursive(
    LEAVES, lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=3), max_leaves=5
)
WHOLE = st.dictionaries(KEYS, TREES, max_size=3)
WANTED = st.dictionaries(KEYS, st.none() | TREES, max_size=3)


@settings(max_examples=60, deadline=None, phases=(Phase.generate,))
@given(WHOLE, WANTED)
@pytest.mark.long
def test_merging_the_same_inventory_twice_changes_nothing(
    now: dict[str, Any], wanted: dict[str, Any]
) -> None:
    text = yaml.safe_dump(now)
    then = merge(text, wanted)
    assert merge(then, wanted) == then
    found = yaml.safe_load(then)
    for key, value in now.items():
        if key not in wanted:
            assert found[key] == value
