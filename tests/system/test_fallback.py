"""What happens when systemd gives the box up: pure decisions, and the disk after a power cut."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.update.release.fallback import left, sentences
from appliance.update.release.store import ReleaseStore
from system.usr.lib.interlude import fallback
from system.usr.lib.interlude.fallback import FAILURES, Box, Decision, Disk, Note, Seen, decide

pytestmark = pytest.mark.process

SCRIPTS = Path(__file__).parents[2] / "system/usr/lib/interlude"
OLD, NEW = "1.1.0", "1.2.0"
SEEN = Seen(NEW, OLD, frozenset({OLD, NEW}), "exit-code", 70, "boot", 1000.0)
MANIFEST = {"version": "", "machine": "any", "python": "any", "made_s": 1, "tree_sha256": "0" * 64,
            "tree_bytes": 0, "files_bytes": 0}  # fmt: skip


class World:
    """A box with releases that stay up or not, driven by the decisions. Its clock advances in the
    waits."""

    def __init__(self, well: set[str], *, slots: bool = False, previous: str = OLD) -> None:
        self.well, self.slots = well, slots
        self.kept, self.previous, self.note = NEW, previous, Note()
        self.now_s = 0.0
        self.changes: list[str] = []
        self.waits: list[float] = []
        self.other_system = 0

    def seen(self) -> Seen:
        return replace(SEEN, kept=self.kept, previous=self.previous, now_s=self.now_s,
                       slots=self.slots, system="0.9.0" if self.slots else "")  # fmt: skip

    def fails(self, lived_s: float = 10.0, **how: str | int) -> Decision:
        self.now_s += lived_s
        made = decide(self.note, replace(self.seen(), **how))  # type: ignore[arg-type]
        self.note = made.note
        if made.link:
            self.kept = made.link
            self.changes.append(made.link)
            self.note = fallback._after_change(made.note)
        self.other_system += made.other_system
        self.waits.append(made.wait_s)
        self.now_s += made.wait_s
        return made

    def until_well(self, most: int = 60) -> None:
        while self.kept not in self.well and most:
            self.fails()
            most -= 1


# ── releases ─────────────────────────────────────────────────────────────────────────────────
def test_the_first_failure_causes_a_wait_and_the_second_one_a_fallback() -> None:
    world = World({OLD})
    assert (world.fails().link, world.waits[-1] > 0) == ("", True)
    made = world.fails()
    assert (made.link, made.wait_s) == (OLD, 0.0)
    assert (world.note.left, world.note.why, world.note.failures) == (NEW, "exit code 70", 0)


def test_a_box_without_an_earlier_release_waits_ever_longer_up_to_300_s() -> None:
    world = World(set(), previous="")
    for _ in range(20):
        world.fails()
    assert world.changes == []
    assert world.waits == sorted(world.waits)
    assert (world.waits[0] < 10.0, world.waits[-1]) == (True, 300.0)


def test_an_incomplete_earlier_release_is_never_started() -> None:
    note = decide(Note(), replace(SEEN, whole=frozenset({NEW}))).note
    made = decide(note, replace(SEEN, whole=frozenset({NEW}), now_s=1100.0))
    assert made.link == ""


def test_two_unhealthy_releases_end_with_the_newer_one_and_do_not_alternate() -> None:
    world = World(set())
    for _ in range(40):
        world.fails()
    assert world.changes == [OLD, NEW]
    assert world.note.tried == (NEW, OLD)
    assert world.note.left == ""


def test_an_abandoned_release_is_not_started_again_when_the_other_one_fails_later() -> None:
    world = World({OLD})
    world.until_well()
    for _ in range(10):
        world.fails(lived_s=86_400.0)
        world.fails()
    assert world.changes == [OLD]


def test_after_an_hour_without_a_failure_the_count_starts_again() -> None:
    world = World(set())
    for _ in range(20):
        world.fails(lived_s=3700.0)
    assert world.changes == []
    assert max(world.waits) == world.waits[0]


def test_failures_within_the_hour_count() -> None:
    world = World(set())
    world.fails()
    world.fails(lived_s=3500.0)
    assert world.changes == [OLD]


def test_the_first_failure_survives_a_power_cut() -> None:
    first = decide(Note(), SEEN).note
    assert decide(first, replace(SEEN, boot="another", now_s=60.0)).link == OLD
    assert decide(first, replace(SEEN, boot="another", now_s=3700.0)).link == ""


def test_a_later_update_starts_with_an_empty_note() -> None:
    world = World({OLD})
    world.until_well()
    world.previous, world.kept = OLD, "1.3.0"
    seen = replace(world.seen(), whole=frozenset({OLD, NEW, "1.3.0"}))
    made = decide(world.note, seen)
    assert (made.link, made.note.left, made.note.tried) == ("", "", ())
    made = decide(made.note, replace(seen, now_s=seen.now_s + 20))
    assert made.link == OLD


# ── what is no failure of a release ──────────────────────────────────────────────────────────
def test_requested_restarts_are_no_failures() -> None:
    world = World(set())
    for _ in range(50):
        made = world.fails(lived_s=90.0, result="start-limit-hit", status=0)
        assert (made.wait_s, made.note.failures) == (0.0, 0)
    assert world.changes == []


def test_a_box_that_ends_again_and_again_at_once_without_an_error_fails() -> None:
    world = World({OLD})
    world.fails(lived_s=90.0, result="start-limit-hit", status=0)
    for _ in range(2):
        world.fails(lived_s=4.0, result="start-limit-hit", status=0)
    assert world.changes == [OLD]


def test_unusable_settings_never_cost_a_release() -> None:
    world = World(set())
    for _ in range(30):
        world.fails(status=78)
    assert world.changes == []
    assert world.waits[-1] == 300.0
    assert world.note.failures == 0


def test_another_exit_code_costs_a_release() -> None:
    world = World(set())
    for _ in range(30):
        world.fails(status=77)
    assert world.changes != []


@pytest.mark.parametrize("state", ["system_on_trial", "installing"])
def test_during_a_trial_or_an_installation_nothing_is_decided(state: str) -> None:
    note = Note(version=NEW, failures=FAILURES)
    made = decide(note, replace(SEEN, **{state: True}))  # type: ignore[arg-type]
    assert (made.note, made.link, made.other_system) == (note, "", False)
    assert decide(note, SEEN).link == OLD


# ── the system in the other slot ─────────────────────────────────────────────────────────────
def test_the_other_system_is_tried_once_after_both_releases() -> None:
    world = World(set(), slots=True)
    for _ in range(40):
        world.fails()
    assert (world.changes, world.other_system) == ([OLD, NEW], 1)
    assert world.note.system_left == "0.9.0"


def test_without_slots_no_other_system_is_requested() -> None:
    world = World(set())
    for _ in range(40):
        world.fails()
    assert world.other_system == 0


def test_if_a_release_stays_up_the_other_system_is_not_tried() -> None:
    world = World({OLD}, slots=True)
    world.until_well()
    assert (world.kept, world.other_system) == (OLD, 0)


@pytest.mark.parametrize("seed", range(40))
def test_in_any_sequence_a_release_that_stays_up_is_found_without_alternation(
    seed: int,
) -> None:
    chance = random.Random(seed)
    well = set(chance.choice([[OLD], [NEW], [OLD, NEW], []]))
    world = World(well, slots=chance.random() < 0.5)
    for _ in range(60):
        kind = chance.random()
        if kind < 0.2:
            world.fails(lived_s=chance.uniform(60, 2000), result="start-limit-hit", status=0)
        elif kind < 0.4:
            world.fails(lived_s=chance.uniform(1, 2000), status=78)
        elif world.kept not in well:
            result = chance.choice(["exit-code", "signal", "timeout", "watchdog", "core-dump"])
            world.fails(lived_s=chance.uniform(1, 1500), result=result)
    assert len(world.changes) <= 2
    assert world.other_system <= 1
    assert max(world.waits) <= 300.0
    if NEW in well:
        assert world.changes == []
    elif OLD in well and world.note.version:
        assert world.kept in {OLD, NEW}
        world.until_well(5)
        assert world.kept == OLD


def test_a_box_with_nothing_else_to_start_starts_the_current_release_for_ever() -> None:
    """The release before is below the floor, or its key is revoked: startable.py leaves it out."""
    world = World(set())
    only = frozenset({NEW})
    for _ in range(20):
        world.fails(whole=only)  # type: ignore[arg-type]  # a field of Seen
    assert world.changes == []
    assert max(world.waits) == 300.0


# ── on the disk ──────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two releases whose program prints their version; the newer one is kept."""
    root = tmp_path / "opt"
    for version in (OLD, NEW):
        folder = root / "releases" / version
        (folder / "bin").mkdir(parents=True)
        (folder / "bin/interlude").write_text(f"#!/bin/sh\necho {version}\n")
        (folder / "bin/interlude").chmod(0o755)
        (folder / "release.json").write_text(json.dumps(MANIFEST | {"version": version}))
    (root / "current").symlink_to(f"releases/{NEW}")
    (root / "previous").symlink_to(f"releases/{OLD}")
    return root


def systemctl(folder: Path, result: str = "exit-code", status: int = 70) -> Path:
    """A systemctl that prints how the unit ended and records its arguments."""
    path = folder / "systemctl"
    path.write_text(
        f'#!/bin/sh\necho "$@" >>{folder}/asked\n'
        f"[ $1 != show ] || printf 'Result={result}\\nExecMainStatus={status}\\n'\n"
    )
    path.chmod(0o755)
    return path


def box(root: Path, disk: Disk | None = None, **places: Path) -> Box:
    none = root.parent / "none"
    at = {"given_up": none, "start": none, "command_line": none, "os_release": none, **places}
    asks = str(systemctl(root.parent))
    return Box(root, systemctl=asks, disk=disk or Disk(), **at)


def decide_once(at: Box) -> Decision:
    with at.alone() as free:
        made = decide(at.note(), at.seen(installing=not free))
        at.carry_out(made)
    return made


def starts(root: Path) -> str:
    """The release that the script of the unit would start now."""
    places = {"INTERLUDE_TRIAL": str(root / "none"), "INTERLUDE_KEPT": str(root / "current")}
    done = subprocess.run([SCRIPTS / "start"], env={**os.environ, **places}, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_two_failures_cause_a_fallback_and_the_owner_is_told(root: Path) -> None:
    at = box(root)
    decide_once(at)
    assert starts(root) == NEW
    assert sentences(ReleaseStore(root)) == []
    decide_once(at)
    assert starts(root) == OLD
    assert left(ReleaseStore(root)) == NEW
    assert sentences(ReleaseStore(root)) == [
        f"Version {NEW} did not stay up, so I went back to version {OLD}."
    ]
    (root / "current").unlink()
    (root / "current").symlink_to("releases/1.3.0")
    assert left(ReleaseStore(root)) == ""


def test_the_owner_is_told_of_a_security_update_that_is_not_well(root: Path) -> None:
    (root / "security.json").write_text(json.dumps({"unwell": NEW, "why": "it ended by itself"}))
    assert sentences(ReleaseStore(root)) == [
        f"Version {NEW} failed its check three times. I kept it all the same, because it closes a "
        "security hole."
    ]
    (root / "security.json").write_text(json.dumps({"unwell": OLD, "why": "it ended by itself"}))
    assert sentences(ReleaseStore(root)) == []


class MortalDisk(Disk):
    """Kills its process with SIGKILL after `dies_after` changes."""

    def __init__(self, dies_after: int) -> None:
        self._left = dies_after

    def _done(self) -> None:
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def killed(root: Path, after: int) -> bool:
    """Decide once in a child process that dies after `after` changes. Return whether it died of
    that."""
    child = os.fork()
    if child == 0:
        try:
            decide_once(box(root, MortalDisk(after)))
        except BaseException:  # noqa: BLE001  # nothing of the child may reach pytest
            os._exit(4)
        os._exit(0)
    _, ended = os.waitpid(child, 0)
    assert os.WIFSIGNALED(ended) or os.WEXITSTATUS(ended) == 0
    return os.WIFSIGNALED(ended)


@pytest.mark.parametrize("way", ["to the release before", "and back from it"])
def test_a_fallback_interrupted_anywhere_leaves_a_complete_release_and_is_completed_later(
    root: Path, way: str
) -> None:
    before = {"to the release before": 1, "and back from it": 3}[way]
    for _ in range(before):
        decide_once(box(root))
    target = OLD if before == 1 else NEW
    links = {name: str((root / name).readlink()) for name in ("current", "previous")}
    note = (root / fallback.NOTE).read_bytes()
    seen, after = set(), 1
    while killed(root, after):
        seen.add(starts(root))
        if starts(root) != target:
            decide_once(box(root))
        assert starts(root) == target, after
        assert left(ReleaseStore(root)) == (NEW if target == OLD else ""), after
        # The first failure of the target, wherever the fallback was interrupted.
        decide_once(box(root))
        assert starts(root) == target, after
        for name, leads_to in links.items():
            (root / name).unlink()
            (root / name).symlink_to(leads_to)
        (root / fallback.NOTE).write_bytes(note)
        after += 1
    assert after > 5
    assert seen == {OLD, NEW}


@pytest.mark.parametrize(
    "harm",
    [b"", b"{", b"[]", b'{"tried": 1}', b"\xff", b'{"version": "1.2.0", "failures": "2"}'],
)
def test_a_damaged_note_is_ignored(root: Path, harm: bytes) -> None:
    (root / fallback.NOTE).write_bytes(harm)
    made = decide_once(box(root))
    assert (made.link, made.note.version, made.note.failures) == ("", NEW, 1)
    assert sentences(ReleaseStore(root)) == []


def test_a_box_that_is_killed_again_and_again_does_not_go_below_the_floor(root: Path) -> None:
    """A part that an attacker controls can end the box as often as it likes."""
    (root / "security.json").write_text(json.dumps({"least_version": NEW}))
    for _ in range(10):
        assert decide_once(box(root)).link == ""
    assert starts(root) == NEW
    (root / "security.json").unlink()
    assert decide_once(box(root)).link == OLD


def test_links_out_of_the_releases_folder_are_not_followed(root: Path) -> None:
    (root / "previous").unlink()
    (root / "previous").symlink_to("/etc")
    at = box(root)
    assert decide_once(at).link == decide_once(at).link == ""


def test_nothing_changes_while_a_release_is_being_installed(root: Path) -> None:
    at = box(root)
    for _ in range(3):
        with ReleaseStore(root, root.parent / "run").locked():
            assert decide_once(at).link == ""
    decide_once(at)
    assert decide_once(at).link == OLD


def test_a_system_on_trial_is_recognised_by_the_notes_of_the_boot(root: Path) -> None:
    start = root.parent / "start"
    start.mkdir()
    (root / "system").mkdir()
    at = box(root, start=start)
    assert not at.seen().system_on_trial
    (start / "trial").write_text("yes\n")
    assert not at.seen().system_on_trial  # it was kept, so its trial note is gone
    (root / "system/trial.json").write_text("{}")
    assert at.seen().system_on_trial


@pytest.mark.parametrize("source", ["the kernel", "the boot script", "none"])
def test_slots_are_recognised_from_the_command_line_or_the_note_of_the_boot(
    root: Path, source: str
) -> None:
    line, start = root.parent / "cmdline", root.parent / "start"
    start.mkdir()
    line.write_text("quiet interlude.slot=b\n" if source == "the kernel" else "quiet\n")
    if source == "the boot script":
        (start / "slot").write_text("b\n")
    assert box(root, command_line=line, start=start).seen().slots == (source != "none")


def test_the_other_system_is_requested_through_its_unit(root: Path) -> None:
    line, os_release = root.parent / "cmdline", root.parent / "os-release"
    line.write_text("quiet interlude.slot=b\n")
    os_release.write_text('IMAGE_ID=interlude\nIMAGE_VERSION="0.9.0"\n')
    (root / "previous").unlink()
    at = box(root, command_line=line, os_release=os_release)
    decide_once(at)
    assert decide_once(at).other_system
    asked = (root.parent / "asked").read_text().splitlines()
    assert asked[-1] == f"--no-block start {fallback.OTHER_SYSTEM}"
    os_release.write_text("IMAGE_ID=interlude\nIMAGE_VERSION=0.8.0\n")
    assert sentences(ReleaseStore(root), os_release) == [
        "I went back from the system 0.9.0 to the system 0.8.0."
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [("signal 0\n", "signal"), ("exit-code 3\n", "exit code 3"), ("", "exit code 79"),
     ("x", "exit code 79"), ("exit-code x", "exit code 79"), ("\0 \0 \0", "exit code 79")],
)  # fmt: skip
def test_the_mark_of_a_given_up_box_supplies_the_reason(root: Path, words: str, why: str) -> None:
    mark = root.parent / "given-up"
    mark.write_text(words)
    at = box(root, given_up=mark)
    at = replace(at, systemctl=str(systemctl(root.parent, status=79)))
    reason = decide_once(at).note.why
    assert reason == {"exit code 79": "a part that it needs ended again and again"}.get(why, why)


# ── as the unit runs it ──────────────────────────────────────────────────────────────────────
def settle(root: Path, **more: str | Path) -> subprocess.CompletedProcess[str]:
    places = {"INTERLUDE_ROOT": root, "INTERLUDE_TRIAL": root / "none",
              "INTERLUDE_FALLBACK": SCRIPTS / "fallback.py",
              "INTERLUDE_GIVEN_UP": root.parent / "given-up", **more}  # fmt: skip
    return subprocess.run(
        [SCRIPTS / "settle"], env={**os.environ, **{k: str(v) for k, v in places.items()}},
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip


def test_the_unit_performs_the_fallback_and_starts_the_box(root: Path, tmp_path: Path) -> None:
    decide_once(box(root))
    done = settle(root, INTERLUDE_SYSTEMCTL=systemctl(tmp_path))
    assert done.returncode == 0, done.stderr
    assert f"{OLD} is started in its place" in done.stderr
    assert starts(root) == OLD
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[-2:] == ["reset-failed interlude.service", "--no-block start interlude.service"]


@pytest.mark.parametrize("trial", [False, True])
def test_the_mark_is_removed_after_the_decision_has_read_it(
    root: Path, tmp_path: Path, trial: bool
) -> None:
    mark = root.parent / "given-up"
    mark.write_text("signal 0\n")
    if trial:
        (root / "none").symlink_to("anywhere")
    decides = tmp_path / "decides"
    decides.write_text(f"#!/bin/sh\ncat {mark} >&2\necho 0\n")
    decides.chmod(0o755)
    done = settle(root, INTERLUDE_SYSTEMCTL=systemctl(tmp_path), INTERLUDE_FALLBACK=decides)
    assert done.returncode == 0, done.stderr
    assert ("signal 0" in done.stderr) != trial
    assert not mark.exists()


def test_without_its_program_the_unit_still_starts_the_box(root: Path, tmp_path: Path) -> None:
    script = tmp_path / "sleep"
    script.write_text(f'#!/bin/sh\necho "sleep $@" >>{tmp_path}/asked\n')
    script.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = settle(root, INTERLUDE_SYSTEMCTL=systemctl(tmp_path), INTERLUDE_FALLBACK="/no/such",
                  PATH=path)  # fmt: skip
    assert done.returncode == 0
    asked = (tmp_path / "asked").read_text().splitlines()
    assert "sleep 60" in asked
    assert asked[-1] == "--no-block start interlude.service"


def no_more(tmp_path: Path, after: int) -> Path:
    """A systemctl that reports the box as failed for the first `after` queries."""
    runs = tmp_path / "systemctl"
    runs.write_text(
        f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n'
        "case $1 in show) printf 'Result=start-limit-hit\\nExecMainStatus=0\\n' ;;"
        f" is-failed) [ $(grep -c is-failed {tmp_path}/asked) -le {after} ] ;; esac\n"
    )
    runs.chmod(0o755)
    return runs


def test_a_box_that_was_started_meanwhile_is_not_started_again(root: Path, tmp_path: Path) -> None:
    assert settle(root, INTERLUDE_SYSTEMCTL=no_more(tmp_path, 1)).returncode == 0
    assert (root / fallback.NOTE).exists()
    assert "start interlude.service" not in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("trial", [False, True])
def test_a_box_that_is_starting_already_is_not_judged(
    root: Path, tmp_path: Path, trial: bool
) -> None:
    """This is the state after a restart by hand during a start, which systemd reports as
    `protocol`."""
    if trial:
        (root / "none").symlink_to("anywhere")
    assert settle(root, INTERLUDE_SYSTEMCTL=no_more(tmp_path, 0)).returncode == 0
    assert not (root / fallback.NOTE).exists()
    assert (root / "none").is_symlink() == trial
    assert "start interlude.service" not in (tmp_path / "asked").read_text()
