"""Names that end in .local: avahi-daemon as our drop-in for Debian's unit runs it."""

from __future__ import annotations

import configparser
import re
import subprocess
from pathlib import Path

import pytest

from appliance.cli.mdns import FILE
from appliance.cli.provision import pages
from appliance.page.announcement import announcement
from appliance.settings import load_defaults
from image.initramfs import KEPT
from image.plan import lines
from tests import skips

ROOT = Path(__file__).parents[2]
SYSTEM = ROOT / "system"
DROP_IN = SYSTEM / "usr/lib/systemd/system/avahi-daemon.service.d/50-interlude.conf"
CONFIGURATION = SYSTEM / "usr/lib/interlude/avahi-daemon.conf"
MOST_EXPOSURE = 20  # tenths, as for our own units (test_units.py)
# The units of Debian 12 and 13 without their comments, from avahi 0.8.
DEBIANS = """[Unit]
Description=Avahi mDNS/DNS-SD Stack
Requires=avahi-daemon.socket

[Service]
Type=dbus
BusName=org.freedesktop.Avahi
ExecStart=/usr/sbin/avahi-daemon -s
ExecReload=/usr/sbin/avahi-daemon -r
NotifyAccess=main

[Install]
WantedBy=multi-user.target
Also=avahi-daemon.socket
Alias=dbus-org.freedesktop.Avahi.service
"""
DEBIANS_SOCKET = """[Unit]
Description=Avahi mDNS/DNS-SD Stack Activation Socket

[Socket]
ListenStream=/run/avahi-daemon/socket

[Install]
WantedBy=sockets.target
"""


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Debian's unit with our drop-in, in a separate root."""
    if skips.LACKING[skips.SYSTEMD]():
        pytest.skip(skips.SYSTEMD)
    folder = tmp_path / "usr/lib/systemd/system"
    (folder / "avahi-daemon.service.d").mkdir(parents=True)
    (folder / "avahi-daemon.service").write_text(DEBIANS)
    (folder / "avahi-daemon.socket").write_text(DEBIANS_SOCKET)
    (folder / "avahi-daemon.service.d/50-interlude.conf").write_bytes(DROP_IN.read_bytes())
    for name in ("sysinit", "basic", "shutdown", "sockets", "multi-user"):
        (folder / f"{name}.target").write_text("[Unit]\nDescription=x\n")
    for name in ("system.slice", "-.slice", "-.mount", "tmp.mount"):
        (folder / name).write_text(f"[{'Slice' if name.endswith('slice') else 'Unit'}]\n")
    program = tmp_path / "usr/sbin/avahi-daemon"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def analyze(*words: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def exposure(root: Path, most: int) -> int:
    words = ("security", "--offline=true", f"--threshold={most}", f"--root={root}")
    return analyze(*words, "avahi-daemon.service")[0]


@pytest.mark.process
def test_avahi_is_as_little_exposed_as_our_own_units(units: Path) -> None:
    assert exposure(units, MOST_EXPOSURE) == 0


@pytest.mark.process
def test_debians_unit_without_the_drop_in_is_more_exposed(units: Path) -> None:
    (units / "usr/lib/systemd/system/avahi-daemon.service.d/50-interlude.conf").unlink()
    assert exposure(units, MOST_EXPOSURE) != 0


def of_the_drop_in() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", DROP_IN.read_text(), re.MULTILINE):
        found.setdefault(key, []).append(value)
    return found


def test_avahi_runs_as_its_own_user_without_capabilities_and_writes_its_own_folder() -> None:
    keys = of_the_drop_in()
    assert keys["User"] == ["avahi"]
    assert keys["CapabilityBoundingSet"] == keys["AmbientCapabilities"] == [""]
    assert keys["ReadWritePaths"] == ["/run/avahi-daemon"]
    hidden = {path.lstrip("-") for path in keys["InaccessiblePaths"][0].split()}
    read = {path.lstrip("-") for path in keys["ReadOnlyPaths"][0].split()}
    assert {"/run", "/data", *(f"/{path}" for path in KEPT if "interlude" in path)} <= read | hidden
    assert "/etc/interlude/secrets" in hidden


def test_avahi_binds_one_port_and_no_address_beyond_the_local_network() -> None:
    keys = of_the_drop_in()
    assert keys["SocketBindDeny"] == keys["IPAddressDeny"] == ["any"]
    assert keys["SocketBindAllow"] == ["ipv4:udp:5353", "ipv6:udp:5353"]


def test_the_options_of_the_start_line_are_as_expected() -> None:
    (reset, start) = of_the_drop_in()["ExecStart"]
    assert reset == ""
    assert f"--file=/{CONFIGURATION.relative_to(SYSTEM)} " in start
    assert "--no-drop-root" in start  # it does not start as root


def test_avahi_publishes_a_name_and_addresses_and_uses_no_dbus() -> None:
    config = configparser.ConfigParser()
    config.read(CONFIGURATION)
    assert not config.getboolean("server", "enable-dbus")
    assert config.getboolean("server", "disallow-other-stacks")
    assert not config.getboolean("wide-area", "enable-wide-area")
    assert not config.getboolean("reflector", "enable-reflector")
    published = {key for key, value in config["publish"].items() if value == "yes"}
    assert published == {"publish-addresses", "disable-user-service-publishing"}


def test_the_image_contains_the_daemon_and_its_resolver_plugin() -> None:
    packages = lines(ROOT / "image/packages.txt")
    assert {"avahi-daemon", "libnss-mdns"} <= set(packages)


def test_the_announcement_is_written_from_the_settings_before_avahi_starts() -> None:
    assert not (SYSTEM / "etc/avahi").exists()
    unit = (SYSTEM / "usr/lib/systemd/system/interlude-mdns.service").read_text()
    assert f"ReadWritePaths=-{FILE.parent}\n" in unit
    assert "Before=avahi-daemon.service\n" in unit
    enabled = (ROOT / "ansible/roles/system/defaults/main.yml").read_text()
    assert "  - interlude-mdns.service\n  - interlude-mdns.path\n" in enabled


def as_unit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process the environment of a unit, as far as the settings read it."""
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    text = (SYSTEM / f"usr/lib/systemd/system/{name}.service").read_text()
    for key, value in re.findall(r"^Environment=(\w+)=(.*)$", text, re.MULTILINE):
        monkeypatch.setenv(key, value)


@pytest.mark.parametrize("name", ["interlude-mdns", "interlude-setup"])
def test_units_that_announce_the_page_know_that_the_box_serves_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_unit(name, monkeypatch)
    assert pages(load_defaults) == "http://{}"
    assert b"<port>80</port>" in announcement(load_defaults().page)


def test_a_unit_without_the_environment_of_the_box_knows_no_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_unit("interlude-begin", monkeypatch)
    assert pages(load_defaults) == ""
