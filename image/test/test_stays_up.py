"""A box whose service keeps failing returns to the previous release; and failures that must not
cause that.

The real release runs under real systemd in a container. A release is damaged after its
installation, as by a card that wears out.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.runtime.supervision.failure_rate import ENDS
from appliance.settings.usable import BEFORE
from image.test import real
from image.test.boxes import Box
from image.test.fleet import scratch, started
from system.usr.lib.interlude.ended import MOST

pytestmark = pytest.mark.timeout(1800)
OLD, NEW = "9.0.0", "9.1.0"
WORKS_S = 10.0
PATIENCE_S = 300.0  # limit for what takes half a minute on an idle machine
STATE = "var/lib/interlude"


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    """A box that was updated from the older release to the newer one."""
    with scratch() as folder, started(folder, 1) as made:
        old, new = real.releases(folder, made.key, (OLD, NEW))
        box = made.boxes[0]
        with real.sound_card(box.root):
            words = {"interlude_release_file": str(old), "interlude_settings": real.SETTINGS}
            played = made.play("site.yml", "--skip-tags", "packages", "-e", json.dumps(words))
            assert played.code == 0, played.said[-3000:]
            shutil.copy(new, box.root / "opt/interlude/incoming/new.release")
            command = "interlude release install /opt/interlude/incoming/new.release"
            done = box.ssh(command, 600)
            assert done.returncode == 0, done.stdout + done.stderr
            yield box


def until(true: Callable[[], object], what: str) -> float:
    began_s = time.monotonic()
    while not true():
        assert time.monotonic() - began_s < PATIENCE_S, f"{what}: not within {PATIENCE_S:g} s"
        time.sleep(0.5)
    return time.monotonic() - began_s


def status(box: Box) -> dict[str, object]:
    """The output of `interlude status --json`; {} if it fails."""
    done = box.ssh("interlude status --json")
    said: dict[str, object] = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    return said


def note(box: Box) -> dict[str, object]:
    file = box.root / "opt/interlude/failures.json"
    said: dict[str, object] = json.loads(file.read_text()) if file.exists() else {}
    return said


def well(box: Box, version: str) -> bool:
    said = status(box)
    return (said.get("version"), said.get("well")) == (version, True)


def counted(box: Box) -> int:
    """Failures of the service since the last restart by hand."""
    return len(json.loads(box.ssh("cat /run/interlude-release/ends.json").stdout))


def restart(box: Box) -> None:
    """Restart the service as an owner does; systemd must not refuse it."""
    done = box.ssh("systemctl --no-block restart interlude")
    assert done.returncode == 0, done.stderr


def module(box: Box, version: str, name: str) -> Path:
    return box.root / f"opt/interlude/releases/{version}/lib/appliance/{name}"


def damage(file: Path) -> Callable[[], None]:
    """Zero the start of a file, as a worn card may do; returns a function that restores it."""
    return exchange(file, b"\0" * 512 + file.read_bytes()[512:])


def ends_after(file: Path, seconds: float) -> Callable[[], None]:
    """Let a part exit some seconds after its start; returns a function that restores its file."""
    ends = f"\nimport os, threading\nthreading.Timer({seconds}, os._exit, (3,)).start()\n"
    return exchange(file, file.read_bytes() + ends.encode())


def exchange(file: Path, data: bytes) -> Callable[[], None]:
    whole, compiled = file.read_bytes(), list(file.parent.glob(f"__pycache__/{file.stem}.*"))
    away = [(path, path.read_bytes()) for path in compiled]
    for path, _ in away:
        path.unlink()
    file.write_bytes(data)

    def mend() -> None:
        file.write_bytes(whole)
        for path, was in away:
            path.write_bytes(was)

    return mend


def test_a_model_that_kills_the_thinker_alone_costs_no_release_and_no_start(box: Box) -> None:
    model = next(module(box, NEW, ".").rglob("*.gguf"))
    mend = damage(model)
    restart(box)
    took_s = until(lambda: status(box).get("failed") == ["thinker"], "the thinker has failed")
    assert box.ssh("systemctl is-active interlude").stdout.strip() == "active"
    print(f"\n   a box without a thinker was up after {took_s:.0f} s")
    assert box.ssh("systemctl show -P NRestarts interlude").stdout.strip() == "0"
    assert note(box) == {}
    mend()
    restart(box)
    until(lambda: well(box, NEW), "well again")


def test_restarts_by_hand_are_never_refused_and_count_for_nothing(box: Box) -> None:
    main = "systemctl show -P MainPID interlude"
    for number in range(MOST + 2):
        if number == 2:  # one failure among them
            box.ssh(f"kill -9 $({main})")
            until(lambda: counted(box) == 1, "the one bad end is counted")
        before = box.ssh(main).stdout
        box.ssh("systemctl --no-block restart interlude; sleep 1")  # the next comes in mid-start
        done = box.ssh("systemctl restart interlude")
        assert done.returncode == 0, done.stderr
        assert box.ssh(main).stdout not in {before, "0"}
        assert counted(box) == 0
    assert note(box) == {}
    until(lambda: well(box, NEW), "well again")


def test_a_settings_file_with_a_mistake_keeps_no_box_down_and_costs_no_release(box: Box) -> None:
    file = box.root / "etc/interlude/settings.yaml"
    usable = file.read_text()
    assert (box.root / STATE / BEFORE).read_text() == usable
    file.write_text(usable + "\nvolme: 3\n")
    restart(box)
    # The command reads the owner's file, too, and reports the mistake.
    ready = """grep -q '"ready":true' /run/interlude/status.json"""
    active = f"systemctl is-active interlude && {ready}"
    until(lambda: box.ssh(active).returncode == 0, "up in spite of the mistake")
    said = box.ssh("interlude status")
    assert said.returncode == 78
    assert "volme" in said.stderr
    assert "volme" in box.ssh("journalctl -u interlude -p 6 --no-pager | tail -100").stdout
    assert note(box) == {}
    file.write_text(usable)
    restart(box)
    until(lambda: well(box, NEW), "well again")


def test_a_needed_part_that_works_for_a_while_and_ends_again_and_again_costs_the_release(
    box: Box,
) -> None:
    mend = ends_after(module(box, NEW, "hear/listener.py"), WORKS_S)
    restart(box)
    took_s = until(lambda: well(box, OLD), "well on the release before")
    print(f"\n   from a listener that ends {WORKS_S:g} s after each start: {took_s:.0f} s")
    assert took_s >= 2 * ENDS * WORKS_S  # the count of failures has caused it
    noted = note(box)
    assert (noted["left"], noted["failures"]) == (NEW, 0)
    assert noted["why"] == "a part that it needs ended again and again"
    mend()
    done = box.ssh("interlude release install /opt/interlude/incoming/new.release", 600)
    assert done.returncode == 0, done.stdout + done.stderr
    until(lambda: well(box, NEW), "well on the release that was mended")


def test_a_release_that_rots_after_it_was_kept_is_left_for_the_one_before_and_the_owner_told(
    box: Box,
) -> None:
    mend = damage(module(box, NEW, "runtime/supervisor.py"))
    restart(box)
    took_s = until(lambda: well(box, OLD), "well on the release before")
    print(f"\n   from a release that cannot start to the one before: {took_s:.0f} s")
    assert note(box)["left"] == NEW
    said = f"Version {NEW} did not stay up, so I went back to version {OLD}."
    assert status(box)["fell_back"] == said
    told = box.root / STATE / "conductor/told-of-releases"
    until(told.exists, "told the owner")
    assert told.read_text() == said
    assert json.loads(box.ssh("interlude release status --json").stdout)["left"] == NEW
    mend()


def test_two_releases_that_rot_are_tried_for_ever_and_the_first_that_works_runs(box: Box) -> None:
    mends = [damage(module(box, version, "runtime/supervisor.py")) for version in (OLD, NEW)]
    restart(box)
    until(lambda: note(box).get("tried") == [NEW, OLD], "both were tried")
    until(lambda: note(box).get("version") == NEW, "back on the newer one")
    for mend in mends:
        mend()
    took_s = until(lambda: well(box, NEW), "well without anybody's help")
    print(f"\n   from the day on which it can start again: {took_s:.0f} s")
