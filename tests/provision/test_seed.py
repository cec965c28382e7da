"""Every value of a seed is checked before anything is written."""

from __future__ import annotations

import pytest

from appliance.errors import InterludeError
from appliance.provision.seed import Seed, WifiNetwork, check
from tests.provision.seeds import KEY, SECRET


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Seed(hostname="kit chen"), "not a host name"),
        (Seed(hostname="-kitchen"), "not a host name"),
        (Seed(hostname="a" * 64), "not a host name"),
        (Seed(hostname="localhost"), "means every machine itself"),
        (Seed(hostname="LocalHost"), "means every machine itself"),
        (Seed(hostname="kitchen\n127.0.0.1 bank.example"), "not a host name"),
        (Seed(timezone="../../etc/passwd"), "not a time zone"),
        (Seed(timezone="/etc/passwd"), "not a time zone"),
        (Seed(country="DEU"), "not a country"),
        (Seed(country="D\n"), "not a country"),
        (Seed(mode="loud"), "no mode `loud`"),
        (Seed(broker="evil.example;reboot"), "not a broker"),
        (Seed(broker="x", port=70_000), "port 70000"),
        (Seed(user="interlude"), "no broker"),
        (Seed(broker="x", user="a\nb"), "some that cannot be used"),
        (Seed(broker="x", password="a" * 201), "longer than 200"),
        (Seed(name="a" * 61), "longer than 60"),
        (Seed(name="\ud800"), "some that cannot be used"),
        (Seed(model="gemma-9"), "no model"),
        (Seed(model="ljspeech"), "not a language model"),
        (Seed(wifi=WifiNetwork(b"")), "1 to 32"),
        (Seed(wifi=WifiNetwork(b"x" * 33)), "1 to 32"),
        (Seed(wifi=WifiNetwork(b"a\nb")), "cannot be used"),
        (Seed(wifi=WifiNetwork(b"Home", "short")), "8 to 63"),
        (Seed(wifi=WifiNetwork(b"Home", "x" * 65)), "8 to 63"),
        (Seed(wifi=WifiNetwork(b"Home", "eight\nletters")), "8 to 63"),
        (Seed(keys=("ssh-ed25519 AAAA",)), "ssh key number 1"),
        (Seed(keys=(KEY, 'command="/bin/sh" ' + KEY)), "ssh key number 2"),
        (Seed(keys=(KEY + "\nssh-rsa AAAA",)), "ssh key number 1"),
        (Seed(keys=(KEY,) * 21), "21 ssh keys"),
    ],
)
def test_a_harmful_value_is_refused_and_no_secret_repeated(bad: Seed, why: str) -> None:
    with pytest.raises(InterludeError, match=why) as refused:
        check(bad)
    if bad.wifi is not None and bad.wifi.password:
        assert bad.wifi.password not in str(refused.value)
    if bad.password:
        assert bad.password not in str(refused.value)


@pytest.mark.parametrize(
    "good",
    [
        Seed(),
        Seed(hostname="a", broker="192.168.1.7", timezone="UTC"),
        Seed(wifi=WifiNetwork(b"\xff\xfe odd bytes", "")),
        Seed(broker="fd00::7", user="x", password=SECRET),
    ],
)
def test_unusual_but_valid_values_are_accepted(good: Seed) -> None:
    check(good)
