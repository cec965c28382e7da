"""The real package, with its pocket model and a sound card, on a box in a container: the silence
during the installation of a release, the shell commands, and the example of an inventory.

The figures depend on this machine and its load. The silence is measured by systemd's times: from
the stop of the old release until each part of the new one works. The sound card's events are within
that time: the microphone is not read, and nothing is played.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest

from image.test import real
from image.test.boxes import Box
from image.test.fleet import ROOT, Fleet, scratch, started
from lab.sim.card_events import CardEventKind, StreamDirection
from lab.sim.simulated_card import SoundCard

pytestmark = pytest.mark.timeout(1800)
OLD, NEW = "9.0.0", "9.1.0"


@pytest.fixture(scope="module")
def fleet() -> Iterator[tuple[Fleet, SoundCard]]:
    """One box with the real release, and the room's side of its sound card."""
    with scratch() as folder, started(folder, 1) as made:
        old, new = real.releases(folder, made.key, (OLD, NEW))
        box = made.boxes[0]
        with real.sound_card(box.root) as card:
            words = {"interlude_release_file": str(old), "interlude_settings": real.SETTINGS}
            played = made.play("site.yml", "--skip-tags", "packages", "-e", json.dumps(words))
            assert played.code == 0, played.said[-3000:]
            shutil.copy(new, box.root / "opt/interlude/incoming/new.release")
            yield made, card


def moments(box: Box) -> dict[str, float]:
    """When the service last left and last entered the state active, in seconds."""
    shown = box.ssh("systemctl show interlude -p ActiveExitTimestampMonotonic"
                    " -p ActiveEnterTimestampMonotonic").stdout  # fmt: skip
    found = re.findall(r"Active(\w+)TimestampMonotonic=(\d+)", shown)
    return {name: int(us) / 1e6 for name, us in found}


def test_the_microphone_is_closed_once_and_the_new_release_listens(
    fleet: tuple[Fleet, SoundCard],
) -> None:
    made, card = fleet
    box = made.boxes[0]
    assert made.kept() == [OLD]
    before = len(card.events())
    done = box.ssh("interlude release install /opt/interlude/incoming/new.release", 300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert made.kept() == [NEW]
    at = moments(box)
    ear = [event for event in card.events()[before:] if event.stream == StreamDirection.CAPTURE]
    stop, start = ear
    assert (stop.kind, start.kind) == (CardEventKind.STOP, CardEventKind.START)
    silence_s = at["Enter"] - at["Exit"]
    closed_s = (start.index - stop.index) / card.rate_hz
    assert 0 < closed_s < silence_s
    print(f"\n   {done.stdout.strip()}; silence {silence_s:.2f} s (goal 3), of which the microphone"
          f" was closed {closed_s:.2f} s")  # fmt: skip
    said = json.loads(box.ssh("interlude status --json").stdout)
    assert (said["version"], said["failed"]) == (NEW, [])


BARE = "env -i /usr/local/bin/interlude"  # no environment at all
SUDO = "env -i HOME=/root PATH=/usr/sbin:/usr/bin runuser -u interlude -- /usr/local/bin/interlude"


def remembers(box: Box, typed: str) -> str:
    """Ask a question, and return what `memory show` prints once it is in the memory."""
    assert box.ssh(f"{BARE} ask what time is it").returncode == 0
    limit = time.monotonic() + 60
    while "what time is it" not in (shown := box.ssh(f"{typed} memory show").stdout):
        assert time.monotonic() < limit, shown
        time.sleep(0.5)
    return shown


@pytest.mark.parametrize("typed", [BARE, SUDO])
def test_a_shell_shows_and_forgets_the_memory_of_the_service_that_runs(
    fleet: tuple[Fleet, SoundCard], typed: str
) -> None:
    box = fleet[0].boxes[0]
    assert "in /var/lib/interlude/memory/memory.db" in remembers(box, typed)
    done = box.ssh(f"{typed} memory forget")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "The box that runs here has forgotten all that was said.\n"
    assert box.ssh(f"{typed} memory show").stdout == "Nothing is remembered.\n"


def test_a_shell_forgets_the_memory_of_a_service_that_is_stopped(
    fleet: tuple[Fleet, SoundCard],
) -> None:
    box = fleet[0].boxes[0]
    remembers(box, BARE)
    assert box.ssh("systemctl stop interlude").returncode == 0
    try:
        done = box.ssh(f"{BARE} memory forget")
        assert done.stdout == "1 turn is forgotten.\n", done.stderr
        assert box.ssh("find /var/lib/interlude/memory -type f").stdout == ""
    finally:
        assert box.ssh("systemctl start interlude").returncode == 0


def test_no_command_leaves_anything_of_roots_in_the_services_folders(
    fleet: tuple[Fleet, SoundCard],
) -> None:
    box = fleet[0].boxes[0]
    for words in ("memory show", "enrol --forget", "check", "models list", "models verify pocket",
                  "config", "status", "volume 40", "mode open", "link add"):  # fmt: skip
        done = box.ssh(f"{BARE} {words}")
        assert "Permission" not in done.stderr, (words, done.stderr)
        assert "fault of its own" not in done.stderr, (words, done.stderr)
    strange = box.ssh(
        "find /var/lib/interlude /run/interlude -mindepth 1 -user root -not -path '*/room*'"
    )
    assert (strange.stdout, strange.stderr) == ("", "")
    assert box.ssh("ls -A /root/.local /root/.config 2>/dev/null").stdout == ""
    refused = box.ssh(f"mkdir -m 700 /srv/mine && {BARE} enrol --from /srv/mine")
    assert refused.returncode == 77
    assert "/srv/mine cannot be read by the box's own user, interlude" in refused.stderr


def test_the_example_of_an_inventory_and_its_vault_make_a_box(
    fleet: tuple[Fleet, SoundCard],
) -> None:
    made, _ = fleet
    box = made.boxes[0]
    mine = made.folder / "my-inventory"
    shutil.copytree(ROOT / "ansible/inventory", mine)
    hosts = (mine / "example.yml").read_text()
    assert "192.0.2.11" in hosts
    (mine / "example.yml").write_text(hosts.replace("192.0.2.11", box.address))
    variables = mine / "group_vars/boxes"
    shutil.copy(variables / "vault.yml.example", variables / "vault.yml")
    (made.folder / "vault-pass").write_text("nobody's\n")
    vault = ("--vault-password-file", str(made.folder / "vault-pass"))
    subprocess.run(["ansible-vault", "encrypt", *vault, variables / "vault.yml"],
                   check=True, capture_output=True)  # fmt: skip
    assert "the broker's password" not in (variables / "vault.yml").read_text()
    ssh = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    words = ("--skip-tags", "packages", "--limit", "interlude-kitchen", *vault,
             "--private-key", str(box.key), f"--ssh-common-args={ssh}")  # fmt: skip
    played = made.play("site.yml", *words, inventory=mine / "example.yml")
    assert played.code == 0, played.said[-3000:]
    assert "the broker's password" not in played.said
    lies = box.ssh("cat /etc/interlude/secrets/mqtt-password").stdout
    assert lies == "the broker's password for the user interlude\n"
    changed = box.ssh("interlude config --changed").stdout
    for word in ("homeassistant.local", "Kitchen", "link.user: interlude"):
        assert word in changed
    again = made.play("site.yml", *words, inventory=mine / "example.yml")
    assert (again.code, set(again.changed().values())) == (0, {0})
