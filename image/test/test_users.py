"""One user for each domain of trust, under a box's systemd: a probe in each unit's sandbox tries
what the unit can write, read and reach. Frequent requests must still be answered.

The box is a container (boxes.py). A drop-in replaces a unit's program with the probe; the rest of
the unit is as shipped.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from image.test.boxes import Box
from image.test.fleet import PATIENCE_S, Fleet, scratch, started

pytestmark = pytest.mark.timeout(900)

# All folders that some unit may write, and some that none may.
PLACES = (
    "/var/lib/interlude", "/var/lib/interlude-models", "/var/lib/interlude-models/.fetch",
    "/var/lib/interlude-incoming",
    "/var/lib/interlude-wishes", "/run/interlude", "/run/interlude-model", "/run/interlude-page",
    "/run/interlude-setup", "/run/interlude-network", "/run/interlude-release",
    "/run/interlude-light", "/run/interlude-wanted", "/run/interlude-changed",
    "/run/interlude-pull",
    "/opt/interlude", "/etc/interlude", "/etc",
    "/etc/systemd", "/etc/pam.d", "/etc/ssh", "/root", "/root/.ssh", "/usr", "/var/log/interlude",
    "/var/lib/systemd/timers", "/data/keep", "/data/keep/etc", "/data/keep/root", "/data/keep/usr",
)  # fmt: skip
STATE = "/var/lib/interlude"
KEPT = ("/data/keep/etc", "/data/keep/root")
# Folders of /etc that these units may write.
IN_ETC = {"interlude-begin": {"interlude", "modprobe.d", "NetworkManager", "ssh"},
          "interlude-setup": {"interlude", "modprobe.d", "NetworkManager"},
          "interlude-network": {"NetworkManager"},
          "interlude-settings": {"interlude"},
          "interlude-update": {"interlude"}}  # fmt: skip
ETC_FILES = ("passwd", "shadow", "group", "profile", "nsswitch.conf", "ld.so.cache", "fstab")
# What each unit can write of PLACES. docs/security.md has the same as a table.
WRITES = {
    "interlude-model": {"/var/lib/interlude-models/.fetch", "/run/interlude-model"},
    "interlude-accept": {"/var/lib/interlude-models", "/var/lib/interlude-models/.fetch"},
    "interlude-light": {"/run/interlude-light"},
    "interlude-announce": {STATE, "/run/interlude-model"},
    "interlude-pull": {"/var/lib/interlude-incoming", "/run/interlude-pull"},
    "interlude-look": {"/run/interlude-wanted", "/run/interlude-changed"},
    "interlude-page": {"/run/interlude-page"},
    "interlude-warnings": {"/var/log/interlude"},
    "interlude-begin": {"/etc", "/etc/interlude", "/etc/ssh", "/root/.ssh", *KEPT,
                        "/run/interlude-setup"},
    "interlude-setup": {"/etc", "/etc/interlude", "/root/.ssh", *KEPT,
                        "/run/interlude-setup", "/run/interlude-page",
                        "/run/interlude-network", "/var/log/interlude",
                        "/var/lib/interlude-wishes"},
    "interlude-settings": {"/etc/interlude", "/run/interlude-wanted", "/run/interlude-changed"},
    "interlude-network": {"/etc", "/data/keep/etc", "/run/interlude-wanted",
                          "/run/interlude-changed", "/run/interlude-network"},
    "interlude-update": {"/opt/interlude", "/etc/interlude", "/run/interlude-release",
                         "/var/lib/interlude-incoming"},
    "interlude-system": {"/opt/interlude", "/run/interlude-release",
                         "/var/lib/interlude-incoming"},
    "interlude-settle-system": {"/opt/interlude", "/run/interlude-release"},
}  # fmt: skip
# Files with the owner's words or secrets, which no unit can read except for those of READS.
SECRET = ("/var/lib/interlude/memory", "/etc/interlude/secrets/mqtt-password",
          "/var/log/interlude/warnings.log")  # fmt: skip
READS = {"interlude-announce": {SECRET[0]}, "interlude-warnings": {SECRET[2]}}
PROBE = """
import os, socket, sys
def can(act):
    try:
        act()
        return True
    except OSError:
        return False
def writes(folder):
    name = folder + "/.probe"
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    # A home of memory is no home: whether it was the real one, the outside tells by this.
    os.unlink(name)
def root_is_memory():
    return os.statvfs("/root").f_blocks != os.statvfs("/").f_blocks
for folder in {places!r}:
    real = folder != "/root" or not root_is_memory()
    if real and can(lambda: writes(folder)):
        print("writes", folder)
for name in sorted(os.listdir("/etc")):
    folder = "/etc/" + name
    if os.path.isdir(folder) and not os.path.islink(folder) and can(lambda: writes(folder)):
        print("in-etc", name)
for name in {etc_files!r}:
    if can(lambda: os.close(os.open("/etc/" + name, os.O_WRONLY))):
        print("file-in-etc", name)
for path in {secret!r}:
    if can(lambda: os.listdir(path) if os.path.isdir(path) else open(path).read()):
        print("reads", path)
def door():
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as wire:
        wire.connect("/run/interlude/conductor/control")
if can(door):
    print("opens the door")
def world():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as wire:
        wire.settimeout(2)
        wire.connect(("{gateway}", 22))
try:
    world()
except ConnectionRefusedError:
    print("reaches the network")
except OSError:
    pass
else:
    print("reaches the network")
print("done")
"""


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    """One running box with secret files and a control socket."""
    with scratch() as folder, started(folder, 1) as made:
        file = made.release("0.1.0")
        played = made.play(
            "site.yml", "--skip-tags", "packages", "-e", f"interlude_release_file={file}"
        )
        assert played.code == 0, played.said[-3000:]
        box = made.boxes[0]
        box.ssh("mkdir -p /data/keep/usr /root/.ssh; touch /etc/interlude/pull.env;"
                " install -d -o interlude -g interlude -m 700 /var/lib/interlude/memory;"
                " echo secret >/etc/interlude/secrets/mqtt-password;"
                " chmod 600 /etc/interlude/secrets/mqtt-password;"
                " systemctl restart interlude-warnings; sleep 1;"
                " touch /var/log/interlude/warnings.log;"
                " chown interlude-log: /var/log/interlude/warnings.log;"
                " chmod 640 /var/log/interlude/warnings.log")  # fmt: skip
        # As dialog/control_socket.py creates it: mode 0600, owned by the box's own user.
        door = ("import os,socket,time; os.makedirs('/run/interlude/conductor', exist_ok=True);"
                "os.umask(0o177); s=socket.socket(1,5);"
                "s.bind('/run/interlude/conductor/control');"
                "s.listen(); time.sleep(9999)")  # fmt: skip
        box.ssh(f'systemd-run --quiet --uid=interlude python3 -c "{door}"')
        yield made


def override(box: Box, unit: str, command: str) -> None:
    """Let a unit run another program, once, without the unit's conditions."""
    text = (
        "[Unit]\\nConditionPathExists=\\nConditionKernelCommandLine=\\n"
        "[Service]\\nType=oneshot\\nRestart=no\\nExecStart=\\nExecStart=" + command + "\\n"
        "StandardOutput=journal\\nStandardError=journal\\n"
    )
    folder = f"/run/systemd/system/{unit}.service.d"
    box.ssh(f"mkdir -p {folder}; printf '{text}' >{folder}/probe.conf; systemctl daemon-reload")


def back(box: Box, unit: str) -> None:
    box.ssh(f"rm -r /run/systemd/system/{unit}.service.d; systemctl daemon-reload")


@pytest.mark.parametrize("unit", sorted(WRITES))
def test_a_unit_can_do_what_it_is_for_and_nothing_else(fleet: Fleet, unit: str) -> None:
    box = fleet.boxes[0]
    probe = PROBE.format(
        places=PLACES,
        secret=SECRET,
        etc_files=ETC_FILES,
        gateway=f"{box.address.rpartition('.')[0]}.1",
    )
    (box.root / "usr/lib/interlude/probe.py").write_text(probe)
    box.ssh(f"systemctl stop {unit}")
    override(box, unit, "/usr/bin/python3 /usr/lib/interlude/probe.py")
    try:
        cursor = box.ssh("journalctl -n 0 --show-cursor -q -o cat").stdout.strip()
        after = cursor.removeprefix("-- cursor: ")
        box.ssh(f"systemctl start {unit}")
        said = box.ssh(f"journalctl -u {unit} -o cat --after-cursor='{after}' | cat").stdout
    finally:
        back(box, unit)
    rows = [line.split(" ", 1) for line in said.splitlines()]
    assert ["done"] in rows, said
    writes = {row[1] for row in rows if row[0] == "writes"}
    reads = {row[1] for row in rows if row[0] == "reads"}
    as_root = unit in {"interlude-begin", "interlude-setup", "interlude-update",
                       "interlude-system", "interlude-settle-system",
                       "interlude-settings", "interlude-network", "interlude-look"}  # fmt: skip
    assert writes == WRITES[unit]
    in_etc = {row[1] for row in rows if row[0] == "in-etc"}
    assert in_etc - IN_ETC.get(unit, set()) == set()
    assert "file-in-etc" not in said
    if not as_root:
        assert reads == READS.get(unit, set())
        assert ("opens the door" in said) == (unit == "interlude-announce")
    if unit != "interlude-page":  # its IP filter needs a kernel of its own, not a container's
        assert ("reaches the network" in said) == (unit in {"interlude-model", "interlude-pull"})


@pytest.mark.parametrize(
    ("command", "stays"), [("/bin/true", False), ("/bin/false", True)], ids=["well", "badly"]
)
def test_a_request_for_a_model_goes_when_its_fetch_ended_well(
    fleet: Fleet, command: str, *, stays: bool
) -> None:
    box = fleet.boxes[0]
    override(box, "interlude-model", command)
    try:
        box.ssh("echo gemma-4-e2b >/etc/interlude/model-wanted; systemctl start interlude-model")
        left = box.ssh("ls /etc/interlude/model-wanted").returncode == 0
        assert left == stays
    finally:
        box.ssh("rm -f /etc/interlude/model-wanted; systemctl reset-failed interlude-model")
        back(box, "interlude-model")


def test_nobody_takes_away_or_exchanges_what_another_has_handed_over(fleet: Fleet) -> None:
    box = fleet.boxes[0]
    incoming = "/var/lib/interlude-incoming"

    def by(user: str, words: str) -> int:
        done = box.ssh(f"setpriv --reuid {user} --regid {user} --init-groups sh -c '{words}'")
        return done.returncode

    assert by("interlude", f"echo mine >{incoming}/a.release") == 0
    assert by("interlude-pull", f"echo mine >{incoming}/b.release") == 0
    assert by("interlude-pull", f"rm -f {incoming}/a.release") != 0
    assert by("interlude-pull", f"mv {incoming}/b.release {incoming}/a.release") != 0
    assert by("interlude", f"rm -f {incoming}/b.release") != 0
    assert by("interlude-pull", "echo reset >/var/lib/interlude-wishes/wanted-setup") != 0
    assert by("interlude-model", f"echo x >{incoming}/c.release") != 0
    assert by("interlude-model", "mkdir /var/lib/interlude-models/gemma-4-e2b") != 0
    assert by("interlude-pull", f"rm {incoming}/b.release") == 0
    assert by("interlude", f"rm {incoming}/a.release") == 0


def test_who_asks_ten_times_a_minute_is_still_answered_afterwards(fleet: Fleet) -> None:
    """With a limit of four triggers a minute systemd once gave up the unit at the fifth."""
    box = fleet.boxes[0]
    ask = ("setpriv --reuid interlude-pull --regid interlude-pull --init-groups"
           " sh -c 'echo nothing.release >/var/lib/interlude-incoming/wanted'")  # fmt: skip
    triggered = "systemctl show -P InvocationID interlude-update.service"
    seen: set[str] = set()
    limit = time.monotonic() + PATIENCE_S
    while len(seen) < 7:
        assert time.monotonic() < limit, box.ssh("systemctl status interlude-update.path").stdout
        box.ssh(ask)
        seen.add(box.ssh(triggered).stdout)
        time.sleep(0.5)
    assert box.ssh("systemctl is-active interlude-update.path").stdout == "active\n"
    while box.ssh("ls /var/lib/interlude-incoming/wanted").returncode == 0:
        assert time.monotonic() < limit
        time.sleep(0.5)
