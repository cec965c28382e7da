"""A fleet of three boxes, updated for real: Ansible over ssh, systemd, ssh signatures.

The boxes are containers (see boxes.py); what they run acts as told (see tiny.py). Each test says
what it did to the fleet and how long that took. They build on each other, in this order.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.update import signature
from appliance.update.release import signer_rotation
from image.test import boxes
from image.test.fleet import PATIENCE_S, Fleet, full_disk, scratch, started

pytestmark = pytest.mark.timeout(1800)  # a playbook has a limit of its own, and says what it did
SPEAKS = "grep -q speaking /run/interlude/status.json"


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with scratch() as folder, started(folder, 3) as made:
        yield made


def test_the_site_makes_boxes_of_them(fleet: Fleet) -> None:
    file = fleet.release("0.1.0")
    played = fleet.play(
        "site.yml", "--skip-tags", "packages", "-e", f"interlude_release_file={file}"
    )
    assert played.code == 0, played.said[-3000:]
    assert fleet.kept() == ["0.1.0"] * 3
    for box in fleet.boxes:
        assert box.ssh("systemctl --failed --no-legend").stdout == ""
        modes = box.ssh("stat -c '%a %U' /etc/interlude/secrets/mqtt-password").stdout
        assert modes == "600 root\n"


def test_a_second_run_changes_nothing(fleet: Fleet) -> None:
    file = fleet.folder / "made" / f"interlude-0.1.0-{platform.machine()}.release"
    played = fleet.play(
        "site.yml", "--skip-tags", "packages", "-e", f"interlude_release_file={file}"
    )
    assert played.code == 0, played.said[-3000:]
    assert played.changed() == {"box1": 0, "box2": 0, "box3": 0}


def test_a_good_release_reaches_every_box(fleet: Fleet) -> None:
    file = fleet.release("0.2.0")
    played = fleet.update(file)
    assert played.code == 0, played.said[-3000:]
    assert fleet.kept() == ["0.2.0"] * 3
    again = fleet.update(file)
    assert (again.code, again.changed()) == (0, {"box1": 0, "box2": 0, "box3": 0})


@pytest.mark.parametrize(
    ("version", "kind", "why"),
    [
        ("0.3.0", "failing", "speaker failed again and again"),
        ("0.3.1", "crashes", "failed its health check"),
        ("0.3.2", "unfit", "no module named soxr"),
    ],
)
def test_a_failing_release_stops_at_the_first_box_and_is_rolled_back(
    fleet: Fleet, version: str, kind: str, why: str
) -> None:
    played = fleet.update(fleet.release(version, kind))
    assert played.code != 0
    assert why in played.said
    assert played.touched() == {"box1"}
    assert fleet.kept() == ["0.2.0"] * 3


def test_a_trial_that_nobody_watches_ends_by_itself_when_it_keeps_crashing(fleet: Fleet) -> None:
    box = fleet.boxes[0]  # where the crashing release still lies, and never was kept
    box.ssh(
        "ln -s /opt/interlude/releases/0.3.1 /run/interlude-release/trial;"
        " systemctl restart --no-block interlude; sleep 1"
    )
    limit = time.monotonic() + PATIENCE_S
    while fleet.kept()[0] != "0.2.0":
        assert time.monotonic() < limit, box.ssh("systemctl status interlude").stdout
        time.sleep(0.5)
    assert box.ssh("readlink /run/interlude-release/trial").stdout == ""
    limit = time.monotonic() + PATIENCE_S  # new warnings are written every half minute
    while "interlude.service" not in box.ssh("cat /var/log/interlude/warnings.log").stdout:
        assert time.monotonic() < limit
        time.sleep(0.5)


def test_an_archive_that_was_changed_is_refused(fleet: Fleet) -> None:
    file = fleet.release("0.4.0")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    played = fleet.update(file)
    assert played.code != 0
    assert "was changed after it was signed" in played.said
    assert fleet.kept() == ["0.2.0"] * 3


def test_a_strangers_signature_is_refused(fleet: Fleet) -> None:
    played = fleet.update(fleet.release("0.4.1", key=fleet.stranger))
    assert played.code != 0
    assert "not signed with a key" in played.said
    assert fleet.kept() == ["0.2.0"] * 3


def test_an_older_release_is_refused(fleet: Fleet) -> None:
    played = fleet.update(fleet.release("0.1.5"))
    assert played.code != 0
    assert "older than 0.2.0" in played.said
    assert fleet.kept() == ["0.2.0"] * 3


def test_a_conversation_is_not_interrupted(fleet: Fleet) -> None:
    box = fleet.boxes[0]
    box.ssh(f"touch /var/lib/interlude/talks; until {SPEAKS}; do sleep 0.1; done")
    since = box.ssh("systemctl show -p MainPID --value interlude").stdout
    played = fleet.update(fleet.release("0.5.0"), "-e", "interlude_wait_s=5")
    assert played.code != 0
    assert "A conversation is under way" in played.said
    assert box.ssh("systemctl show -p MainPID --value interlude").stdout == since
    box.ssh(f"rm /var/lib/interlude/talks; while {SPEAKS}; do sleep 0.1; done")
    assert fleet.kept() == ["0.2.0"] * 3


def test_a_full_disk_is_said_before_anything_is_written(fleet: Fleet) -> None:
    file = fleet.release("0.5.1")
    with full_disk(fleet.boxes[0]):
        played = fleet.update(file)
    assert played.code != 0
    assert "MiB are needed" in played.said
    assert "release : Copy it to the box]" not in played.said
    assert fleet.kept() == ["0.2.0"] * 3


def test_a_box_that_is_away_stops_the_roll_out_and_is_named(fleet: Fleet) -> None:
    fleet.boxes[1].cut_power()
    played = fleet.update(fleet.release("0.6.0"))
    fleet.boxes[1].boot()
    assert played.code != 0
    assert "box2" in played.said
    assert "UNREACHABLE" in played.said
    assert fleet.kept() == ["0.6.0", "0.2.0", "0.2.0"]


def test_power_that_goes_in_the_middle_of_a_trial_leaves_the_old_release(fleet: Fleet) -> None:
    box = fleet.boxes[2]
    file = fleet.release("0.7.0", "hangs")
    shutil.copy(file, box.root / "opt/interlude/incoming/x.release")
    box.ssh("nohup interlude release install /opt/interlude/incoming/x.release >/dev/null 2>&1 &")
    limit = time.monotonic() + PATIENCE_S
    while "0.7.0" not in box.ssh("readlink /run/interlude-release/trial").stdout:
        assert time.monotonic() < limit
        time.sleep(0.2)
    box.cut_power()
    box.boot()
    limit = time.monotonic() + PATIENCE_S
    while fleet.kept()[2] != "0.2.0":
        assert time.monotonic() < limit, fleet.kept()
        time.sleep(0.5)


def test_the_next_update_brings_every_box_to_the_same_version(fleet: Fleet) -> None:
    played = fleet.update(fleet.release("0.8.0"))
    assert played.code == 0, played.said[-3000:]
    assert fleet.kept() == ["0.8.0"] * 3


def test_a_box_goes_back_when_it_is_told_to(fleet: Fleet) -> None:
    done = fleet.boxes[0].ssh("interlude release rollback")
    assert done.stdout == "went back to 0.6.0\n", done.stderr
    assert fleet.kept() == ["0.6.0", "0.8.0", "0.8.0"]


AS_BOX = "setpriv --reuid interlude --regid interlude --init-groups env HOME=/var/lib/interlude"


def asks_for(fleet: Fleet, file: Path, version: str) -> None:
    """As a part of the first box does: request the installation, and wait until it is kept."""
    box = fleet.boxes[0]
    shutil.copy(file, box.root / "var/lib/interlude-incoming")
    box.ssh("chown interlude: /var/lib/interlude-incoming/*")
    asked = box.ssh(f"{AS_BOX} interlude release ask")
    assert asked.stdout == f"asked for {version}\n", asked.stderr
    limit = time.monotonic() + PATIENCE_S
    while not fleet.kept()[0].startswith(version):
        assert time.monotonic() < limit, box.ssh("journalctl -u interlude-update").stdout
        time.sleep(0.5)


def test_the_update_service_installs_what_the_box_itself_asks_for(fleet: Fleet) -> None:
    asks_for(fleet, fleet.release("0.9.0"), "0.9.0")
    assert fleet.kept()[0] == "0.9.0"


def test_a_box_that_nobody_can_reach_fetches_its_release_itself(fleet: Fleet) -> None:
    file = fleet.release("0.10.0")
    address = f"{boxes.NETWORK}.1"
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", "8407", "--bind", address, "-d", file.parent],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sheet = {"version": "0.10.0", "url": file.name,
             "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}  # fmt: skip
    (file.parent / "sheet.json").write_text(json.dumps(sheet))
    box = fleet.boxes[1]
    try:
        where = json.dumps({"interlude_pull_url": f"http://{address}:8407/sheet.json"})
        played = fleet.play("site.yml", "--tags", "pull", "--limit", "box2", "-e", where)
        assert played.code == 0, played.said[-2000:]
        # What its timer starts at night, as its own user, who has no rights.
        pulled = box.ssh("systemctl start interlude-pull.service")
        assert pulled.returncode == 0, box.ssh("journalctl -u interlude-pull").stdout
        limit = time.monotonic() + PATIENCE_S
        while fleet.kept()[1] != "0.10.0":
            assert time.monotonic() < limit, box.ssh("journalctl -u interlude-update").stdout
            time.sleep(0.5)
        again = box.ssh("systemctl start interlude-pull.service; journalctl -u interlude-pull -n 5")
        assert "this box has 0.10.0" in again.stdout
    finally:
        server.terminate()
        server.wait()
    assert "enabled" in box.ssh("systemctl is-enabled interlude-pull.timer").stdout


def test_the_table_shows_every_box(fleet: Fleet) -> None:
    played = fleet.play("fleet.yml")
    assert played.code == 0, played.said[-2000:]
    for name, version in (("box1", "0.9.0"), ("box2", "0.10.0"), ("box3", "0.8.0")):
        assert re.search(rf"{name}\s+{version}\s+idle\s+yes", played.said), played.said


def test_a_key_is_rotated_as_the_page_tells(fleet: Fleet) -> None:
    keys = [key.with_suffix(".pub").read_text().strip() for key in (fleet.key, fleet.stranger)]
    for trusted in (keys, keys[1:]):  # the new one beside the old, then alone
        words = json.dumps({"interlude_signers": trusted})
        played = fleet.play("site.yml", "--tags", "settings", "-e", words)
        assert played.code == 0, played.said[-2000:]
        if len(trusted) == 2:
            assert fleet.update(fleet.release("0.11.0", key=fleet.stranger)).code == 0
            assert fleet.kept() == ["0.11.0"] * 3
    played = fleet.update(fleet.release("0.12.0"))
    assert "not signed with a key" in played.said
    assert fleet.kept() == ["0.11.0"] * 3


def test_a_release_that_closes_a_hole_is_kept_whatever_a_part_does_and_brings_new_keys(
    fleet: Fleet,
) -> None:
    """The first box trusts the stranger's key alone. Its parts end as if one killed them all."""
    box, old, new = fleet.boxes[0], fleet.stranger, fleet.key
    listed = {"number": 1, "keys": [new.with_suffix(".pub").read_text().strip()], "least": 1}
    data = json.dumps(listed).encode()
    more = {
        "policy/policy.json": b'{"security": true}',
        signer_rotation.NAME: data,
        signer_rotation.SIGNATURES: b"".join(
            signature.sign(data, key, signer_rotation.NAMESPACE) for key in (old, new)
        ),
    }
    asks_for(fleet, fleet.release("0.13.0", "crashes", old, more), "0.13.0")
    limit = time.monotonic() + PATIENCE_S
    while (
        new.with_suffix(".pub").read_text().split()[1]
        not in box.ssh("cat /etc/interlude/allowed_signers").stdout
    ):
        assert time.monotonic() < limit, box.ssh("journalctl -u interlude-update").stdout
        time.sleep(0.5)
    said = box.ssh("interlude release rollback")
    assert "0.11.0 is older than 0.13.0, which a security update requires" in said.stderr
    box.ssh(f"{AS_BOX} sh -c 'echo previous >/var/lib/interlude-incoming/wanted'")
    time.sleep(15.0)  # the unit takes the note within 5 s, and the fallback gives the box up
    assert json.loads(box.ssh("interlude release status --json").stdout)["kept"] == "0.13.0"
    assert "closes a security hole" in box.ssh("interlude status").stdout
    asks_for(fleet, fleet.release("0.14.0"), "0.14.0")
    limit = time.monotonic() + PATIENCE_S
    while fleet.kept()[0] != "0.14.0":
        assert time.monotonic() < limit, box.ssh("systemctl status interlude").stdout
        time.sleep(0.5)
