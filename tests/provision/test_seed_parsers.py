"""Every format of a seed as its programs write it, and invalid ones."""

from __future__ import annotations

import pytest

from appliance.errors import InterludeError, SeedRefused
from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.seed_parsers import MOST_BYTES, parse_seed
from tests.provision.seeds import KEY, SECRET

PSK = "0123456789abcdef" * 4

# The format of raspberrypi/rpi-imager 2.
USER_DATA = f"""#cloud-config
manage_resolv_conf: false

hostname: kitchen
manage_etc_hosts: true
packages:
- avahi-daemon
apt:
  preserve_sources_list: true
  conf: |
    Acquire {{
      Check-Date "false";
    }};
timezone: Europe/Berlin
keyboard:
  model: pc105
  layout: "de"
user:
  name: anna
  shell: /bin/bash
  lock_passwd: false
  passwd: "$y$jB5$notAHash"
  ssh_authorized_keys:
    - "{KEY}"
  sudo: ALL=(ALL) NOPASSWD:ALL

ssh_pwauth: false

runcmd:
  - [ systemctl, enable, --now, ssh ]
  - [ sh, -c, "touch /tmp/owned" ]
"""
NETWORK = f"""network:
  version: 2
  ethernets:
    eth0:
      dhcp4: true
      optional: true
  wifis:
    wlan0:
      dhcp4: true
      regulatory-domain: "DE"
      access-points:
        "Caf\\xC3\\xA9 \\"upstairs\\"":
          hidden: true
          password: "{PSK}"
      optional: true
"""
# The format of Imager 1.9.6, where the Wi-Fi password is the hash of the passphrase.
OLDER_USER_DATA = f"""#cloud-config
hostname: kitchen
manage_etc_hosts: true
packages:
- avahi-daemon
apt:
  conf: |
    Acquire {{
      Check-Date "false";
    }};

users:
- name: anna
  groups: users,adm,dialout,audio,netdev,video,plugdev,cdrom,games,input,gpio,spi,i2c,render,sudo
  shell: /bin/bash
  lock_passwd: true
  ssh_authorized_keys:
    - {KEY}
  sudo: ALL=(ALL) NOPASSWD:ALL


timezone: Europe/Berlin
keyboard:
  model: pc105
  layout: "de"
runcmd:
- [ sh, -c, "touch /tmp/owned" ]

"""
OLDER_NETWORK = f"""version: 2
wifis:
  renderer: networkd
  wlan0:
    dhcp4: true
    optional: true
    access-points:
      "Home":
        password: "{PSK}"
        hidden: true
"""
OWN = """
hostname: kitchen
wifi: {name: Home, password: correct horse, country: DE}
timezone: Europe/Berlin
mode: wake_word
card: "plughw:CARD=Array"
panel: codec-zero
name: Kitchen
mqtt: {broker: homeassistant.local, port: 1883, user: interlude, password: 'p\\a"s''s'}
model: gemma-4-e2b
"""


def seed(**files: str) -> Seed:
    names = {"user_data": "user-data", "network": "network-config", "own": "interlude.yaml"}
    found = parse_seed({names[key]: text.encode() for key, text in files.items()})
    check(found)
    return found


def test_the_format_of_imager_2_is_parsed() -> None:
    assert seed(user_data=USER_DATA, network=NETWORK) == Seed(
        hostname="kitchen", timezone="Europe/Berlin", keys=(KEY,), country="DE",
        wifi=WifiNetwork('Café "upstairs"'.encode(), PSK, hidden=True),
    )  # fmt: skip


def test_the_format_of_imager_1_9_is_parsed() -> None:
    """It passes the country to the kernel only."""
    assert seed(user_data=OLDER_USER_DATA, network=OLDER_NETWORK) == Seed(
        hostname="kitchen", timezone="Europe/Berlin", keys=(KEY,),
        wifi=WifiNetwork(b"Home", PSK, hidden=True),
    )  # fmt: skip


def test_our_own_format_can_set_every_value() -> None:
    assert seed(own=OWN) == Seed(
        card="plughw:CARD=Array", panel="codec-zero",
        hostname="kitchen", wifi=WifiNetwork(b"Home", "correct horse"), country="DE",
        timezone="Europe/Berlin", mode="wake_word", name="Kitchen",
        broker="homeassistant.local", port=1883, user="interlude", password=SECRET,
        model="gemma-4-e2b",
    )  # fmt: skip


def test_our_format_may_be_part_of_imagers_and_has_precedence() -> None:
    both = seed(user_data="hostname: study\ninterlude: {mode: push_to_talk, hostname: kitchen}\n")
    assert (both.hostname, both.mode) == ("kitchen", "push_to_talk")
    two = seed(own="hostname: attic\n", user_data="hostname: study\ntimezone: Europe/Berlin\n")
    assert (two.hostname, two.timezone) == ("attic", "Europe/Berlin")


@pytest.mark.parametrize("data", [b"", b"\n", bytes(700), b"#cloud-config\n"])
def test_an_empty_file_gives_an_empty_seed(data: bytes) -> None:
    assert parse_seed({"user-data": data}).empty
    assert parse_seed({}).empty


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("interlude.yaml", "hostname: [kitchen"),
        ("interlude.yaml", "- a\n- b\n"),
        ("interlude.yaml", "hostnam: kitchen\n"),
        ("interlude.yaml", "wifi: Home\n"),
        ("interlude.yaml", "mqtt: {port: 99999, broker: x}\n"),
        ("interlude.yaml", "hostname: kitchen\n? "),
        ("interlude.yaml", "wifi: {name: Home, password: eight-and,more}"),
        ("interlude.yaml", "wifi: {name: Home, hidden: perhaps}"),
        ("interlude.yaml", "wifi: {password: eight-and-more}"),
        ("interlude.yaml", "hostname: kitchen\n---\nhostname: study\n"),
        ("interlude.yaml", "hostname: !!python/object/apply:os.system [id]\n"),
        ("interlude.yaml", "model: gemma\n"),
        ("user-data", "hostname: {a: b}\n"),
        ("user-data", "[" * 30_000),
        ("user-data", "a: &x [1]\nb: *x\n"),
        ("user-data", "x" * (MOST_BYTES + 1)),
        ("network-config", "network: {wifis: {wlan0: [1]}}\n"),
        ("network-config", "network: {wifis: {wlan0: networkd}}\n"),
    ],
)
def test_an_invalid_file_is_refused_with_one_sentence(name: str, text: str) -> None:
    with pytest.raises(InterludeError) as refused:
        check(parse_seed({name: text.encode()}))
    assert name in str(refused.value) or isinstance(refused.value, SeedRefused)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\xff\xfe", "name: Küche".encode("latin-1")])
def test_bytes_that_are_no_text_are_reported(data: bytes) -> None:
    with pytest.raises(SeedRefused, match="is no text"):
        parse_seed({"user-data": data})


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encoding_and_line_ends_of_the_editor_do_not_matter(code: str, end: str) -> None:
    text = f"hostname: kitchen{end}wifi:{end}  name: Café{end}  password: eight and more{end}"
    assert parse_seed({"interlude.yaml": text.encode(code)}) == Seed(
        hostname="kitchen", wifi=WifiNetwork("Café".encode(), "eight and more")
    )


@pytest.mark.parametrize(
    "password", ["12345678", "01234567", "1_000_000", "12:34:56:78", "2026-01-01", "1.0000000",
                 "it''s \"quoted\" \\ so"]
)  # fmt: skip
def test_a_password_is_never_parsed_as_a_number_or_date(password: str) -> None:
    quoted = f"'{password}'" if '"' in password else password
    expected = WifiNetwork(b"NO", password.replace("''", "'"))
    assert seed(own=f"wifi:\n  name: NO\n  password: {quoted}\n").wifi == expected
    points = f"{{wlan0: {{access-points: {{NO: {{password: {quoted}}}}}}}}}"
    assert seed(network=f"network: {{wifis: {points}}}").wifi == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("wifi:\n  name: Home\n  password: SECRETpw #1\n", 3),
        ("wifi:\n  name: Home\n  password: #SECRET1\n", 3),
        ("wifi:\n  password: SECRETpw  # mine\n  name: Home\n", 2),
        ("wifi: {name: Home, password: SECRETpw #1\n  }\n", 1),
        ("wifi:\r\n  name: Café #5\r\n  password: SECRETpw\r\n", 2),
        ("mqtt:\n  broker: x\n  user: a #b\n  password: SECRET\n", 3),
        ("mqtt:\n  broker: x\n  user: a\n  password: SECRET #2\n", 4),
    ],
)
def test_an_unquoted_value_that_yaml_would_cut_at_a_hash_is_refused(text: str, line: int) -> None:
    for name, form in (("interlude.yaml", text), ("user-data", indented(text))):
        with pytest.raises(SeedRefused, match=f"in line {line + (name == 'user-data')} ") as cut:
            parse_seed({name: form.encode()})
        assert "single quotes" in str(cut.value)
        assert "SECRET" not in str(cut.value)


def indented(text: str) -> str:
    return "interlude:\n" + "".join(f"  {line}" for line in text.splitlines(keepends=True))


def test_a_cut_password_in_imagers_format_is_refused_too() -> None:
    with pytest.raises(SeedRefused, match="network-config: The password in line 6"):
        parse_seed({"network-config": b"network:\n wifis:\n  wlan0:\n   access-points:\n"
                                b"    Home:\n     password: secretpw #1\n"})  # fmt: skip


@pytest.mark.parametrize(
    "password", ["'secretpw #1'  # of the router", '"secretpw #1"', "secretpw#1", "'it''s #1 here'"]
)
def test_a_hash_that_cuts_nothing_is_accepted(password: str) -> None:
    found = seed(own=f"wifi:\n  name: Home\n  password: {password}\n  country: DE # here\n")
    plain = password.partition("  # ")[0].strip("'\"").replace("''", "'")
    assert found == Seed(wifi=WifiNetwork(b"Home", plain), country="DE")


def test_comments_on_other_lines_are_ignored() -> None:
    found = seed(own="mode: open  # or wake_word\nname: Kitchen  # in Home Assistant\n")
    assert found == Seed(mode="open", name="Kitchen")


def test_a_single_key_and_yaml_booleans_are_accepted() -> None:
    found = seed(own=f"ssh_keys: {KEY}\nwifi: {{name: Home, country: no, hidden: yes}}\nmqtt:\n")
    assert found == Seed(keys=(KEY,), wifi=WifiNetwork(b"Home", hidden=True), country="NO")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hostnam: kitchen\n", "Is it `hostname`"),
        ("mqtt: homeassistant.local\n", "In `mqtt` there should be names with values"),
        ("ssh_keys: {a: b}\n", "`ssh_keys`"),
        ("wifi:\n  name: Home\n  password: one: two\n", "line 3.*single quotes"),
        ("wifi: {name: Home, password: eight-and,SECRET}", "single quotes"),
    ],
)
def test_an_error_is_explained_to_the_owner_without_repeating_a_secret(text: str, why: str) -> None:
    with pytest.raises(SeedRefused, match=why) as refused:
        parse_seed({"interlude.yaml": text.encode()})
    assert "$" not in str(refused.value)
    assert "SECRET" not in str(refused.value)
