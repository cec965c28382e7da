"""Root starts the unit that looks for an update when the page requests it. Root itself reads
neither the address nor the stick."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from appliance.cli.requested_look import cli_look, sticks, systemd_start
from appliance.errors import StorageError
from appliance.runtime.handed_request import RequestOutcome, outcome
from appliance.update.look_request import REQUEST
from appliance.update.release.look_record import mark

ID = "0123456789abcdef"


class Box:
    """The folders of root and of the box, below one folder of the test. `started`: the started
    units."""

    def __init__(self, root: Path) -> None:
        self.wanted, self.changed = root / "wanted", root / "changed"
        self.pull, self.by_id, self.mounts = root / "pull.env", root / "by-id", root / "mountinfo"
        for folder in (self.wanted, self.changed, self.by_id):
            folder.mkdir()
        self.mounts.write_text("22 1 179:2 / / ro - erofs /dev/mmcblk0p2 ro\n")
        self.started: list[str] = []
        self.refuses = False

    def start(self, unit: str) -> None:
        if self.refuses:
            raise StorageError("systemd cannot be asked (no).")
        self.started.append(unit)

    def run(self, record: bytes, user: int | None = None) -> RequestOutcome | None:
        (self.wanted / REQUEST).write_bytes(record)
        (self.wanted / REQUEST).chmod(0o600)
        code = cli_look(
            wanted=self.wanted, changed=self.changed, pull=self.pull, by_id=self.by_id,
            mounts=self.mounts, start=self.start, user=os.geteuid() if user is None else user,
        )  # fmt: skip
        assert code == 0
        assert list(self.wanted.iterdir()) == []
        return outcome(REQUEST, ID, self.changed)

    def look(self, source: str, user: int | None = None) -> RequestOutcome | None:
        return self.run(msgspec.json.encode({"id": ID, "source": source}), user)

    def plug(self, link: str, name: str) -> None:
        device = self.by_id.parent / name
        device.touch()
        (self.by_id / link).symlink_to(device)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_with_an_address_the_pull_unit_is_started(box: Box) -> None:
    box.pull.write_text("PULL_URL=https://fleet.example/sheet.json\n")
    box.pull.chmod(0)  # it may contain a login; root does not need to read it
    assert box.look("web") == RequestOutcome(ID, names=("interlude-pull.service",))
    assert box.started == ["interlude-pull.service"]
    assert mark("web", box.changed).exists()


def test_without_an_address_nothing_is_started_and_the_page_gets_the_reason(
    box: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    result = box.look("web")
    assert result is not None
    assert result.key == "page-wrong-look-nowhere"
    assert (box.started, mark("web", box.changed).exists()) == ([], False)
    assert capsys.readouterr().out.startswith("<4>cannot look")


def test_every_usb_stick_is_read_and_no_other_disk(box: Box) -> None:
    box.plug("usb-Maker_Stick_1-0:0", "sda")
    box.plug("usb-Maker_Stick_1-0:0-part1", "sda1")
    box.plug("mmc-SC64G_1-part1", "mmcblk0p1")
    box.plug("usb-x-part1", "sd;rm -rf")
    result = box.look("stick")
    units = ("interlude-stick@sda.service", "interlude-stick@sda1.service")
    assert result == RequestOutcome(ID, names=units)
    assert tuple(box.started) == units


def test_a_stick_that_is_not_plugged_in_yet_is_awaited(box: Box) -> None:
    assert box.look("stick") == RequestOutcome(ID)
    assert (box.started, mark("stick", box.changed).exists()) == ([], True)


def test_the_disk_that_the_box_runs_from_is_no_stick(box: Box) -> None:
    box.plug("usb-Maker_Disk_1-0:0-part5", "sda5")
    number = (box.by_id.parent / "sda5").stat().st_rdev  # 0 for a regular file
    box.mounts.write_text(f"30 1 {os.major(number)}:{os.minor(number)} / /data rw - ext4 x rw\n")
    assert sticks(box.by_id, box.mounts) == []


def test_a_machine_without_usb_has_no_sticks(box: Box) -> None:
    assert sticks(box.by_id / "none", box.mounts) == []


@pytest.mark.parametrize(
    "record",
    [b"", b"{", b"\xff", b'{"id": "x", "source": "web"}', b'{"id": "0123456789abcdef"}',
     b'{"id": "0123456789abcdef", "source": "https://evil.example"}',
     b'{"id": "0123456789abcdef", "source": "web", "url": "https://evil.example"}'],
)  # fmt: skip
def test_an_invalid_request_is_removed_and_starts_nothing(box: Box, record: bytes) -> None:
    box.pull.touch()
    assert box.run(record) is None
    assert box.started == []


def test_only_requests_of_the_boxs_user_count(box: Box) -> None:
    box.pull.touch()
    assert box.look("web", user=os.geteuid() + 1) is None
    assert box.started == []


def test_a_refusal_by_systemd_is_reported(box: Box) -> None:
    box.pull.touch()
    box.refuses = True
    result = box.look("web")
    assert result is not None
    assert "systemd cannot be asked" in result.problem


@pytest.mark.process
def test_a_machine_without_systemd_is_reported(tmp_path: Path) -> None:
    systemctl = tmp_path / "systemctl"
    with pytest.raises(StorageError, match="systemd cannot be asked"):
        systemd_start("interlude-pull.service", str(systemctl))
    systemctl.write_text("#!/bin/sh\necho no such unit >&2\nexit 5\n")
    systemctl.chmod(0o755)
    with pytest.raises(StorageError, match="no such unit"):
        systemd_start("interlude-pull.service", str(systemctl))
    systemctl.write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/asked\n')
    systemd_start("interlude-pull.service", str(systemctl))
    assert (tmp_path / "asked").read_text() == "start --no-block interlude-pull.service\n"
