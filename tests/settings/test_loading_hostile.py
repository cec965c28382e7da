"""Broken or malicious settings files raise one named error, quickly and in little memory."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trials
from hypothesis import strategies as st

from appliance.errors import SettingsError
from appliance.settings import Settings, load, load_defaults
from appliance.settings.loading import MOST_BYTES
from tests.memory_peak import Peak


def laughs(lines: int = 30) -> str:
    """The "billion laughs" attack: each line references the line before it nine times."""
    more = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, lines))
    return "\n".join(("a0: &a0 [lol]", *more))


HOSTILE = {
    "a billion laughs": laughs(),
    "laughs in a setting": f"{laughs()}\nhearing: {{words: {{stop: *a29}}}}",
    "an alias": "mode: &m open\nstate_dir: *m",
    "an alias to itself": "link: &l {name: *l}",
    "a merge of itself": "link: &l {<<: *l}",
    "deep lists": "hearing: " + "[" * 50_000,
    "deep maps": "{a: " * 30_000,
    "deep indentation": "\n".join(" " * n + "a:" for n in range(400)),
    "a tag of Python": "mode: !!python/object/apply:os.system ['true']",
    "a tag of its own": "mode: !own open",
    "an invalid bool": "link: {tls: !!bool x}",
    "an invalid int": "link: {port: !!int ''}",
    "an invalid time": "mode: !!timestamp x",
    "an invalid float": "speaking: {volume: !!float x}",
    "invalid bytes": "mode: !!binary '\u00e9'",
    "a 13th month": "mode: 2026-13-01",
    "a number of 5000 digits": "link: {port: 1" + "0" * 5000 + "}",
    "infinity": "speaking: {volume: .inf}",
    "not a number": "speaking: {volume: .nan}",
    "a list for a key": "? [a, b]\n: c",
    "a map for a key": "? {a: b}\n: c",
    "null for a key": "~: c",
    "two documents": "mode: open\n---\nmode: open",
    "a lone surrogate": 'link: {name: "\\ud800", port: x}',
    "a control character": "mode: \x00",
    "too large": "# " + "x" * MOST_BYTES,
    "one value that is too large": "state_dir: " + "x" * (2 * MOST_BYTES),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_is_refused_quickly_and_in_little_memory(text: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    peak, began_s = Peak(), time.monotonic()
    with pytest.raises(SettingsError) as refused:
        load(file)
    assert time.monotonic() - began_s < 10  # for a busy machine; it takes less than a second
    assert peak.mib < 64
    assert str(file) in str(refused.value)


@pytest.mark.parametrize("kind", ["fifo", "link to a fifo", "device", "socket"])
def test_a_file_that_is_not_regular_is_refused_without_blocking(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "settings.yaml"
    if kind == "device":
        file = Path("/dev/zero")
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "link to a fifo":
        os.mkfifo(tmp_path / "fifo")
        file.symlink_to(tmp_path / "fifo")
    else:
        with socket.socket(socket.AF_UNIX) as wire:
            wire.bind(str(file))
    with pytest.raises(SettingsError, match="cannot be read"):
        load(file)


def test_the_settings_file_may_be_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mode: wake_word\n")
    (tmp_path / "settings.yaml").symlink_to(tmp_path / "mine.yaml")
    assert load(tmp_path / "settings.yaml").mode == "wake_word"


def test_a_file_of_the_maximum_size_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    line = "# a comment of the owner's\n"
    file.write_text("mode: wake_word\n" + line * ((MOST_BYTES - 20) // len(line)))
    assert load(file).mode == "wake_word"


def test_the_defaults_pass_the_same_checks() -> None:
    assert isinstance(load_defaults(), Settings)


SECTIONS = ("link", "hearing", "thinking", "speaking", "tools", "memory", "panel", "processes")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10).map(repr)
    | st.sampled_from(("!!int", "!!set {a}", "&a", "*a", "<<", "2026-01-01", "0x1F", "1_0", "~")),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(map(str, items))}]")
    | st.dictionaries(
        st.sampled_from(("volume", "port", "words", "stop", "home", "remote", "url", "cores")),
        inner, max_size=3,
    ).map(lambda pairs: "{" + ", ".join(f"{k}: {v}" for k, v in pairs.items()) + "}"),
    max_leaves=8,
)  # fmt: skip


@given(
    lines=st.lists(st.tuples(st.sampled_from(SECTIONS), VALUES), max_size=4),
    tail=st.binary(max_size=10),
)
@trials(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.long
def test_any_file_loads_or_raises_settings_error(
    lines: list[tuple[str, object]], tail: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "settings.yaml"
    text = "\n".join(f"{section}: {value}" for section, value in lines)
    file.write_bytes(text.encode("utf-8", "replace") + b"\n" + tail)
    try:
        found = load(file)
    except SettingsError:
        return
    assert isinstance(found, Settings)
