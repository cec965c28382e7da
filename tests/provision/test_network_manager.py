"""Networks through nmcli. A script replaces nmcli and prints what NetworkManager's would."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.language.catalogue import english
from appliance.provision.network_manager import (
    ADDRESS,
    OURS,
    UNCONFIRMED,
    JoinedNetwork,
    NmcliNetworks,
    WifiInReach,
    access_point,
)
from appliance.provision.setup_sentences import in_words
from appliance.runtime.network_status import NetworkStatus, read_status, write_status

pytestmark = pytest.mark.process

CABLE = (
    r"eth0:ethernet:connected:Wired connection 1\nwlan0:wifi:disconnected:\n"
    r"lo:loopback:connected (externally):lo\n"
)
AP = r"eth0:ethernet:unavailable:\nwlan0:wifi:connected:interlude-setup\n"
NAMES = r"Home:88:WPA2\nHome:40:WPA2\nCaf\\\\:e:55:\n:90:WPA2\nNeighbour:0:WPA1 WPA2\n"


# The error output of `nmcli connection up` of NetworkManager 1.42, which exits with 4.
HINT = "Hint: use 'journalctl -xe NM_CONNECTION=x + NM_DEVICE=wlan0' to get more details.\\n"
FAILED = "Error: Connection activation failed: "


def radio(folder: Path, says: str = "", code: int = 0, up: str = "") -> NmcliNetworks:
    """A machine whose nmcli prints `says`, and `up` as the error of `connection up`."""
    nmcli = folder / "nmcli"
    refuses = f'case "$*" in *" up "*) printf "%b" "{up}" >&2; exit 4;; esac' if up else ""
    nmcli.write_text(
        f'#!/bin/sh\necho "$*" >>{folder}/asked\n{refuses}\nprintf "{says}"\nexit {code}\n'
    )
    nmcli.chmod(0o755)
    return NmcliNetworks(folder / "run", str(nmcli), 3, folder / "etc/dnsmasq.conf")


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


def test_a_cable_counts_as_a_network_and_our_own_access_point_does_not(tmp_path: Path) -> None:
    assert radio(tmp_path, CABLE).joined() == JoinedNetwork(
        "ethernet", "eth0", "Wired connection 1"
    )
    wifi = JoinedNetwork("wifi", "wlan0", "Home")
    assert radio(tmp_path, r"wlan0:wifi:connected:Home\n").joined() == wifi
    both = radio(tmp_path, r"wlan0:wifi:connected:Home\n" + CABLE).joined()
    assert both == JoinedNetwork("ethernet", "eth0", "Wired connection 1")
    assert radio(tmp_path, AP).joined() is None
    assert radio(tmp_path, AP).device() == "wlan0"
    assert radio(tmp_path, "").device() == ""


def test_configured_wifi_networks_are_listed(tmp_path: Path) -> None:
    rows = r"802-11-wireless:An other\n802-11-wireless:interlude-wifi\n802-3-ethernet:Wired\n"
    assert radio(tmp_path, rows).known() == ["interlude-wifi", "An other"]
    assert radio(tmp_path, r"802-11-wireless:interlude-setup\n802-3-ethernet:W\n").known() == []


BESIDE = r"eth0:ethernet:connected:Wired\nwlan0:wifi:{state}\n"


@pytest.mark.parametrize(
    ("state", "known", "left_out"),
    [
        ("disconnected:", "802-11-wireless:interlude-wifi", "Home"),
        ("disconnected:", "802-3-ethernet:Wired", ""),
        ("connecting (getting IP configuration):interlude-wifi",
         "802-11-wireless:interlude-wifi", ""),
        ("connected:interlude-wifi", "802-11-wireless:interlude-wifi", ""),
        ("connected:interlude-setup", "802-11-wireless:interlude-wifi", ""),
    ],
)  # fmt: skip
def test_a_configured_wifi_that_is_not_joined_is_reported_by_its_ssid(
    tmp_path: Path, state: str, known: str, left_out: str
) -> None:
    here = radio(tmp_path, BESIDE.format(state=state))
    script = tmp_path / "nmcli"
    more = (
        f"case \"$*\" in *TYPE,NAME*) echo '{known}'; exit;; "
        "*ssid*) echo '802-11-wireless.ssid:Home'; exit;; esac"
    )
    script.write_text(script.read_text().replace("\nprintf", f"\n{more}\nprintf", 1))
    assert here.left_out() == left_out


def test_addresses_are_those_of_the_joined_network(tmp_path: Path) -> None:
    here = radio(tmp_path, CABLE)
    script = tmp_path / "nmcli"
    address = "case \"$*\" in *IP4*) echo 'IP4.ADDRESS[1]:192.168.1.7/24'; exit;; esac"
    script.write_text(script.read_text().replace("\nprintf", f"\n{address}\nprintf", 1))
    assert here.addresses() == ["192.168.1.7"]
    assert asked(tmp_path)[-1] == "-t -f IP4.ADDRESS device show eth0"
    assert radio(tmp_path, AP).addresses() == []


def test_a_name_may_end_with_the_escape_character(tmp_path: Path) -> None:
    (there,) = radio(tmp_path, r"C\\\\\\\\:70:WPA2\n").in_reach()
    assert (there.name, there.secured) == ("C\\", True)


def test_each_name_in_reach_is_listed_once_with_its_colons(tmp_path: Path) -> None:
    assert radio(tmp_path, NAMES).names() == ["Home", "Caf:e", "Neighbour"]
    assert radio(tmp_path, NAMES).in_reach() == [
        WifiInReach("Home", -47, True),
        WifiInReach("Caf:e", -67, False),
        WifiInReach("Neighbour", -100, True),
    ]


def test_the_password_of_the_access_point_is_in_a_private_file_and_in_no_command_line(
    tmp_path: Path,
) -> None:
    here = radio(tmp_path)
    here.open("Interlude 4711", "12345678")
    (file,) = (tmp_path / "run").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "psk=12345678" in file.read_text()
    answers = (tmp_path / "etc/dnsmasq.conf").read_text()
    assert f"address=/#/{ADDRESS}\n" in answers
    assert f"dhcp-option=114,http://{ADDRESS}/\n" in answers
    assert "12345678" not in "\n".join(asked(tmp_path))
    assert asked(tmp_path)[-1] == "-t --wait 3 connection up interlude-setup"
    here.close()
    assert list((tmp_path / "run").iterdir()) == []
    assert list((tmp_path / "etc").iterdir()) == []
    assert asked(tmp_path)[-1] == "-t connection reload"


def test_the_access_point_requires_a_password_and_assigns_addresses() -> None:
    text = access_point("Interlude 4711", "12345678")
    assert "method=shared\naddress1=10.42.0.1/24" in text
    assert "key-mgmt=wpa-psk" in text


def test_the_access_point_uses_a_channel_that_every_country_permits() -> None:
    """NetworkManager would choose channel 13 for this name."""
    rows = access_point("Interlude 3282", "12345678").splitlines()
    at = rows.index("[wifi]")
    keys = dict(row.split("=", 1) for row in rows[at + 1 : rows.index("", at)])
    assert keys["band"] == "bg"
    assert 1 <= int(keys["channel"]) <= 11


def test_a_refused_connection_is_explained_from_the_error_of_network_manager(
    tmp_path: Path,
) -> None:
    error = "Secrets were required, but not provided"
    here = radio(tmp_path, r"802-11-wireless:Home\n", up=f"{FAILED}{error}\\n{HINT}")
    problem = here.join()
    assert in_words(problem, english()).startswith("The Wi-Fi Home does not accept the password")


def test_a_joined_wifi_is_no_problem_and_a_missing_one_is(
    tmp_path: Path,
) -> None:
    assert radio(tmp_path, r"802-11-wireless:interlude-wifi\n").join() == ""
    assert asked(tmp_path)[-1] == "-t --wait 3 connection up interlude-wifi"
    assert "has been set up" in in_words(
        radio(tmp_path, r"802-3-ethernet:Wired\n").join(), english()
    )
    late = radio(tmp_path, r"802-11-wireless:Home\n", up="Error: Timeout expired (45 seconds)\\n")
    assert "takes too long" in in_words(late.join(), english())


def test_a_network_manager_that_fails_or_is_missing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="NetworkManager: Error: not running"):
        radio(tmp_path, "Error: not running", 8).names()
    with pytest.raises(StorageError, match="cannot be asked"):
        NmcliNetworks(tmp_path, str(tmp_path / "none")).joined()


def test_our_own_wifi_profile_is_activated_or_its_error_is_reported(tmp_path: Path) -> None:
    assert radio(tmp_path).enter(OURS) == ""
    assert asked(tmp_path) == [
        "-t connection reload",
        "-t --wait 3 connection up interlude-wifi",
    ]
    refused = radio(tmp_path, up=f"{FAILED}Secrets were required, but not provided.").enter(OURS)
    assert "password" in in_words(refused, english())


SECOND = r"wlan0:wifi:connected:interlude-wifi-unconfirmed\n"


def test_an_unconfirmed_wifi_is_in_the_status_before_it_is_joined(tmp_path: Path) -> None:
    here = radio(tmp_path, up=f"{FAILED}No suitable device found.")
    script = tmp_path / "nmcli"
    (tmp_path / "network.json").write_text("{}")
    seen = f'case "$*" in *" up "*) cat {tmp_path}/network.json >{tmp_path}/seen;; esac'
    script.write_text(script.read_text().replace("#!/bin/sh", f"#!/bin/sh\n{seen}"))
    here = dataclasses.replace(here, public=tmp_path)
    assert here.enter(UNCONFIRMED) != ""
    assert json.loads((tmp_path / "seen").read_text())["unconfirmed"] == UNCONFIRMED


def test_an_unconfirmed_wifi_is_not_joined_if_the_status_cannot_say_so(tmp_path: Path) -> None:
    here = dataclasses.replace(radio(tmp_path), public=tmp_path / "none")
    assert here.enter(UNCONFIRMED) != ""
    assert not any(" up " in line for line in asked(tmp_path))


def test_the_status_follows_the_box_out_of_an_unconfirmed_wifi(tmp_path: Path) -> None:
    inside = dataclasses.replace(radio(tmp_path, SECOND), public=tmp_path)
    assert inside.see_unconfirmed() == UNCONFIRMED  # this nmcli does not tell the SSID
    write_status(NetworkStatus(name="kitchen.local", unconfirmed="Street"), tmp_path)
    both = dataclasses.replace(radio(tmp_path, CABLE + SECOND), public=tmp_path)
    assert both.see_unconfirmed() == UNCONFIRMED, "a cable does not lead out of it"
    home = dataclasses.replace(
        radio(tmp_path, r"wlan0:wifi:connected:interlude-wifi\n"), public=tmp_path
    )
    assert home.enter(OURS) == ""
    assert read_status(tmp_path) == NetworkStatus(name="kitchen.local")


def test_an_unconfirmed_wifi_is_tried_last(tmp_path: Path) -> None:
    rows = r"".join(f"802-11-wireless:{name}\\n" for name in (UNCONFIRMED, "An other", OURS))
    assert radio(tmp_path, rows).known() == [OURS, "An other", UNCONFIRMED]
