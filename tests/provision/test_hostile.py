"""Hostile seeds: any value in any field gives a seed or a refusal in one sentence."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from appliance.errors import SeedRefused
from appliance.provision.apply_seed import ProvisionTarget, apply
from appliance.provision.seed import Seed, check
from appliance.provision.seed_parsers import FORMS, MOST_BYTES, parse_seed
from tests.memory_peak import Peak
from tests.provision.seeds import KEY, can_be_applied, tree

LONG_S = 5.0  # CPU time; 0.4 s were measured on a busy machine
MOST_MORE_MIB = 64

# Every place that can hold a value from an untrusted file.
PLACES = (
    ("interlude.yaml", "{}"),
    ("interlude.yaml", "hostname: {}\n"),
    ("interlude.yaml", "wifi: {}\n"),
    ("interlude.yaml", "wifi:\n  name: {}\n"),
    ("interlude.yaml", "wifi:\n  name: Home\n  password: {}\n"),
    ("interlude.yaml", "wifi:\n  name: Home\n  hidden: {}\n"),
    ("interlude.yaml", "wifi:\n  name: Home\n  country: {}\n"),
    ("interlude.yaml", "ssh_keys: {}\n"),
    ("interlude.yaml", "ssh_keys:\n  - {}\n"),
    ("interlude.yaml", f"ssh_keys:\n  - {KEY} {{}}\n"),
    ("interlude.yaml", "timezone: {}\n"),
    ("interlude.yaml", "mode: {}\n"),
    ("interlude.yaml", "name: {}\n"),
    ("interlude.yaml", "mqtt: {}\n"),
    ("interlude.yaml", "mqtt:\n  broker: {}\n"),
    ("interlude.yaml", "mqtt:\n  broker: x\n  port: {}\n"),
    ("interlude.yaml", "mqtt:\n  broker: x\n  user: {}\n"),
    ("interlude.yaml", "mqtt:\n  broker: x\n  password: {}\n"),
    ("interlude.yaml", "model: {}\n"),
    ("interlude.yaml", "{}: kitchen\n"),
    ("user-data", "hostname: {}\n"),
    ("user-data", "users: {}\n"),
    ("user-data", "users:\n  - ssh_authorized_keys: {}\n"),
    ("user-data", "ssh_authorized_keys:\n  - {}\n"),
    ("user-data", "interlude: {}\n"),
    ("network-config", "network:\n  wifis: {}\n"),
    ("network-config", "network:\n  wifis:\n    wlan0:\n      access-points: {}\n"),
    ("network-config", "network:\n  wifis:\n    wlan0:\n      access-points:\n        Home:\n"
                       "          password: {}\n"),
)  # fmt: skip
# Values that raised an uncaught exception or that could.
WORDS = (
    "!!bool x", "!!int ''", "!!float x", "!!timestamp x", "!!binary '*'", "!!null x", "!!set x",
    "!!omap x", "!!pairs [a]", "!!python/object/apply:os.system [id]", "!x y", "!<tag:x> y",
    "&a [*a]", "*a", "{<<: x}", "{? [a] : b}", "[[[[[[[[[[[[[[[[[[[[[[[[x", "- - - - - x",
    '"\\ud800"', '"me \\udfff"', '"\\0"', '"\\x85"', '"\\u2028"', '"a\\nb"', "|\n  a\n  b", "\x00",
    "'", '"', "%", "@x", "`x", "\t", "{}", "[]", "~", "yes", "1e999", "0x_", "1:60", "9" * 400,
    "2024-13-01", "x" * 2000, "\N{RIGHT-TO-LEFT OVERRIDE}x", "-h", "'' ''", "ssh-ed25519 A",
)  # fmt: skip


def outcome(name: str, data: bytes) -> Seed | None:
    """The parsed seed, or None if it was refused with one printable sentence."""
    try:
        seed = parse_seed({name: data})
        check(seed)
    except SeedRefused as error:
        refusal = str(error)
    else:
        return seed
    assert refusal.encode().decode().isprintable()
    assert len(refusal) < 500
    return None


@pytest.mark.parametrize("word", WORDS)
def test_a_hostile_value_in_any_field_is_accepted_or_refused(word: str) -> None:
    for name, place in PLACES:
        seed = outcome(name, place.replace("{}", word).encode())
        if seed is not None:
            can_be_applied(seed)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(PLACES),
    st.text(max_size=60)
    | st.sampled_from(WORDS).flatmap(
        lambda word: st.text(alphabet="!&*[]{}:-#|>?%@\"'\\ \nax0", max_size=12).map(word.__add__)
    ),
)
@example(PLACES[1], "!!bool x")
def test_any_text_in_any_field_is_accepted_or_refused(place: tuple[str, str], word: str) -> None:
    name, text = place
    seed = outcome(name, text.replace("{}", word).encode(errors="surrogatepass"))
    if seed is not None:
        can_be_applied(seed)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([*FORMS]), st.binary(max_size=300))
def test_any_bytes_are_accepted_or_refused(name: str, data: bytes) -> None:
    outcome(name, data)


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "filling"),
    [
        *(("interlude.yaml", filling) for filling in ("[", "- ", "? ", "!", "'", "a\n", "- a\n")),
        ("user-data", "[[a]]\n"),
        ("network-config", "a b "),
    ],
)
def test_the_largest_seed_is_parsed_within_time_and_memory_limits(name: str, filling: str) -> None:
    data = (filling * MOST_BYTES)[:MOST_BYTES].encode()
    peak, began_s = Peak(), time.process_time()
    outcome(name, data)
    assert time.process_time() - began_s < LONG_S
    assert peak.mib < MOST_MORE_MIB


@pytest.mark.parametrize("word", ["!!bool x", "!!int ''", "!!timestamp x", '"me \\ud800"'])
def test_a_refused_hostile_seed_changes_nothing(ground: ProvisionTarget, word: str) -> None:
    before = tree(ground.root)
    for field in (f"name: {word}", f"ssh_keys: [{KEY} x, {word}]"):
        with pytest.raises(SeedRefused):
            apply(parse_seed({"interlude.yaml": f"hostname: kitchen\n{field}\n".encode()}), ground)
    assert (tree(ground.root), tree(ground.keep)) == (before, {})
