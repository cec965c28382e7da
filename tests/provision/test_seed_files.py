"""The files of a seed: paths, modes and bytes, before any of them is written."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from appliance.errors import SeedRefused
from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.seed_files import (
    PASSWORD,
    SETTINGS,
    WANTED,
    connection,
    plan,
)
from tests.provision.seeds import KEY, can_be_applied


@pytest.mark.parametrize(
    ("wifi", "lines"),
    [
        (WifiNetwork(b"Home", "correct horse"), ["ssid=72;111;109;101;", "psk=correct horse"]),
        (WifiNetwork(b"\xc3\xa9", " a\\b ;c#"), ["ssid=195;169;", "psk=\\sa\\\\b ;c#"]),
        (WifiNetwork(b"Home", "ends in one "), ["psk=ends in one\\s"]),
        (WifiNetwork(b"Open", "", hidden=True), ["hidden=true"]),
    ],
)
def test_a_wifi_is_written_in_the_format_of_network_manager(
    wifi: WifiNetwork, lines: list[str]
) -> None:
    text = connection(wifi).splitlines()
    for line in lines:
        assert line in text
    assert ("[wifi-security]" in text) == bool(wifi.password)


NOW = "link: {broker: home.local, port: 1883, user: box}\n"


@pytest.mark.parametrize(
    ("seed", "password"),
    [
        (Seed(broker="evil.local"), "\n"),
        (Seed(broker="evil.local", user="box", password="typed"), "typed\n"),
        (Seed(broker="home.local", port=8883), "\n"),
        (Seed(broker="home.local", user="other"), "\n"),
        (Seed(broker="home.local"), None),
        (Seed(broker="home.local", port=1883, user="box"), None),
        (Seed(mode="open"), None),
    ],
)  # fmt: skip
def test_the_saved_password_is_deleted_with_another_broker_and_stays_with_the_same(
    seed: Seed, password: str | None
) -> None:
    texts = {file.path: file.text for file in plan(seed, NOW)}
    assert texts.get(PASSWORD) == password


def test_a_password_file_of_the_owner_is_not_used_for_another_broker() -> None:
    now = "link: {broker: home.local, password_file: /etc/mine}\n"
    changed = yaml.safe_load({f.path: f.text for f in plan(Seed(broker="x"), now)}[SETTINGS])
    assert changed["link"] == {"broker": "x", "password_file": ""}
    same = yaml.safe_load({f.path: f.text for f in plan(Seed(broker="home.local"), now)}[SETTINGS])
    assert same["link"] == {"broker": "home.local", "password_file": "/etc/mine"}


def test_a_shipped_model_is_not_downloaded() -> None:
    assert WANTED not in [file.path for file in plan(Seed(model="pocket"))]
    assert WANTED in [file.path for file in plan(Seed(model="gemma-4-e2b"))]


def test_only_a_voice_of_the_catalogue_is_requested() -> None:
    check(Seed(voice="ljspeech"))
    (file,) = plan(Seed(voice="ljspeech"))
    assert (file.path, file.text, file.own) == ("etc/interlude/voice-wanted", "ljspeech\n", True)
    for voice, problem in (("gemma-4-e2b", "is not a voice"), ("nobody", "no model `nobody`")):
        with pytest.raises(SeedRefused, match=problem):
            check(Seed(voice=voice))


@settings(max_examples=100, deadline=None)
@given(st.builds(
    Seed, hostname=st.text(), country=st.text(), keys=st.tuples(st.text().map(f"{KEY} ".__add__)),
    name=st.text(), broker=st.sampled_from(["", "x", "\ud800"]), user=st.text(), password=st.text(),
    mode=st.sampled_from(["", "open", "\ud800"]), model=st.sampled_from(["", "gemma-4-e2b", "\0"]),
))  # fmt: skip
@example(Seed(hostname="kitchen", keys=(f"{KEY} \ud800",)))
def test_every_seed_that_passes_the_check_can_be_written(seed: Seed) -> None:
    try:
        check(seed)
    except SeedRefused:
        return
    can_be_applied(seed)
