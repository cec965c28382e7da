"""Root applies the settings that the box requests, from a fixed list of keys, and nothing that it
cannot check."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest

from appliance.cli.requested_change import cli_change, cli_network, cli_try_broker
from appliance.provision.change_network import NetworkChanges
from appliance.provision.network_manager import NmcliNetworks
from appliance.runtime.handed_request import RequestOutcome, ask, outcome
from appliance.settings import load
from appliance.settings.network_change import (
    BROKER_ANSWER,
    BROKER_TRIAL,
    NETWORK,
    BrokerTrial,
    NetworkChange,
)
from appliance.settings.owner_settings import fingerprint
from appliance.settings.section import Scalar
from appliance.settings.settings_change import REQUEST, SettingsChange
from tests.provision.ground import shipped

ID = "0123456789abcdef"


class Box:
    """The folders of root and of the box, below one folder of the test."""

    def __init__(self, root: Path) -> None:
        self.file, self.secret = root / "etc/settings.yaml", root / "etc/secrets/mqtt-password"
        self.wanted, self.changed = root / "wanted", root / "changed"
        for folder in (self.file.parent, self.wanted, self.changed):
            folder.mkdir()

    def ask(self, values: dict[str, Scalar], secret: str = "", *, undo: bool = False) -> None:
        text = self.file.read_text() if self.file.exists() else ""
        ask(REQUEST, SettingsChange(ID, fingerprint(text), values, secret, undo), self.wanted)

    def run(self, user: int | None = None) -> RequestOutcome | None:
        """Run the service as its unit does. Returns the outcome that the page reads."""
        me = os.geteuid() if user is None else user
        code = cli_change(self.file, self.secret, wanted=self.wanted, changed=self.changed, user=me)
        assert code == 0
        assert list(self.wanted.iterdir()) == []
        return outcome(REQUEST, ID, self.changed)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_a_requested_change_is_written_and_logged_without_its_values(
    box: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    box.file.write_text("# mine\n")
    box.ask({"link.broker": "ha.local", "language": "de"}, "correct horse")
    assert box.run() == RequestOutcome(ID)
    assert box.file.read_text().startswith("# mine\n")
    assert load(box.file).link.broker == "ha.local"
    assert box.secret.read_text() == "correct horse\n"
    assert stat.S_IMODE(box.secret.stat().st_mode) == 0o600
    output = capsys.readouterr().out
    assert "changed: language, link.broker, password" in output
    assert "horse" not in output
    assert "ha.local" not in output


def test_the_last_change_is_undone(box: Box) -> None:
    box.file.write_text("language: fr\n")
    box.ask({"language": "de"})
    box.run()
    box.ask({}, undo=True)
    assert box.run() == RequestOutcome(ID)
    assert box.file.read_text() == "language: fr\n"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"language": "klingon"}, "no language"),
        ({"page.unmute": True}, "cannot be changed from here"),
        ({"thinking.remote.url": "http://evil.example"}, "cannot be changed from here"),
        ({"link.password_file": "/etc/shadow"}, "cannot be changed from here"),
    ],
)
def test_root_refuses_values_and_keys_that_the_page_never_sends(
    box: Box, values: dict[str, Scalar], problem: str
) -> None:
    box.ask(values)
    result = box.run()
    assert result is not None
    assert problem in result.problem
    assert not box.file.exists()


def test_a_mode_that_this_box_cannot_use_is_refused(box: Box) -> None:
    box.file.write_text("mode: push_to_talk\npanel: {gpio: header}\n")
    box.ask({"panel.gpio": "none"})
    result = box.run()
    assert result is not None
    assert "no button" in result.problem
    assert "header" in box.file.read_text()


def test_a_request_of_another_user_changes_nothing(box: Box) -> None:
    box.ask({"language": "de"})
    assert box.run(user=os.geteuid() + 1) is None
    assert not box.file.exists()


@pytest.mark.parametrize("data", [b"", b"{}", b"[" * 9999, b'{"id": "x", "keys": 1}', b"\0" * 99])
def test_an_invalid_request_changes_nothing_and_is_removed(box: Box, data: bytes) -> None:
    (box.wanted / REQUEST).write_bytes(data)
    assert box.run() is None
    assert not box.file.exists()


def test_a_link_to_a_file_of_root_is_neither_read_nor_removed(box: Box) -> None:
    record = SettingsChange(ID, fingerprint(""), {"language": "de"})
    elsewhere = box.wanted.parent / "elsewhere"
    elsewhere.write_bytes(msgspec.json.encode(record))
    (box.wanted / REQUEST).symlink_to(elsewhere)
    assert box.run() is None
    assert elsewhere.exists()
    assert not box.file.exists()


def test_a_requested_time_zone_is_set_and_the_result_reported(box: Box, tmp_path: Path) -> None:
    ground = shipped(tmp_path / "machine")
    changes = NetworkChanges(NmcliNetworks(nmcli="/nonexistent"), ground)
    ask(NETWORK, NetworkChange(ID, "timezone", timezone="Europe/Berlin"), box.wanted)
    folders = {"wanted": box.wanted, "changed": box.changed}
    assert cli_network(changes, user=os.geteuid(), **folders) == 0
    assert outcome(NETWORK, ID, box.changed) == RequestOutcome(ID)
    assert (ground.keep / "etc/timezone").read_text() == "Europe/Berlin\n"
    assert cli_network(changes, user=os.geteuid(), **folders) == 0  # no request is left
    assert list(box.wanted.iterdir()) == []


def test_a_requested_broker_is_tried_and_its_error_reported(box: Box) -> None:
    ask(BROKER_TRIAL, BrokerTrial(ID, "", 0, "", tls=False), box.wanted)
    assert cli_try_broker(lambda: load(None), box.wanted) == 0
    result = outcome(BROKER_ANSWER, ID, box.wanted)
    assert result is not None
    assert result.problem == "No broker is named."
    assert cli_try_broker(lambda: load(None), box.wanted) == 0
