#!/usr/bin/python3 -I
"""Decides what to do after systemd has given the box up, and prints how many seconds to wait.

In: the result of interlude.service, the releases on the card, the note about earlier failures.
Out: a new note on the card, `current` pointing to another release if necessary, a start of the
other system, and the wait before the next start on stdout. It runs as root with the system's own
Python, and imports nothing of a release: a damaged release must not decide about itself.

A release is left after two failures, each of which is a series of failed starts. The other release,
if startable.py names it, then gets two failures as well; after them the first release is started
again, because the fault is elsewhere. Then the system in the other slot is tried once. After that
there are only waits, which grow to five minutes. An hour without a failure resets all of this.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

UNIT = "interlude.service"
OTHER_SYSTEM = "interlude-other-system.service"
NOTE = "failures.json"
STARTABLE = Path(__file__).with_name("startable.py")
FAILURES = 2  # of a release before it is left
WELL_S = 3600.0  # without a failure: earlier failures no longer count
HOT_S = 60.0  # orderly ends at shorter intervals are failures, not restarts by the owner
WAITS_S = (5.0, 20.0, 60.0, 120.0, 300.0)
OTHERS_WAIT_S = 60.0  # while an installation, or the health check of a system on trial, decides
SETTINGS = 78  # EX_CONFIG, sysexits(3): appliance.errors.SettingsError
KEEPS_ENDING = 79  # runtime/supervision/failure_rate.py
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True)
class Note:
    """The note about failures on the card; appliance/update/release/fallback.py reads it, too.

    version       the release that failed
    failures      how often systemd gave it up since it last ran for an hour
    waits         waits in a row; one for each failure, of any cause
    boot, at_s    boot id, and seconds since that boot, of the last restart
    tried         releases that were given up twice since one last ran for an hour
    left, why     the release that was replaced by `version`, and how it had ended
    going_to      the release that replaces `version`; the symlink may not point to it yet
    system_left   the system that was left, or was to be left
    other_tried   the system in the other slot has been tried
    """

    version: str = ""
    failures: int = 0
    waits: int = 0
    boot: str = ""
    at_s: float = 0.0
    tried: tuple[str, ...] = ()
    left: str = ""
    why: str = ""
    going_to: str = ""
    system_left: str = ""
    other_tried: bool = False


@dataclass(frozen=True)
class Seen:
    """The present state of the machine.

    kept, previous   targets of the symlinks `current` and `previous`; "" for none
    whole            the complete releases that may be started
    result, status   of interlude.service, as in `systemctl show`
    boot, now_s      boot id, and seconds since the boot
    slots            the card has two system slots
    system           version of the running system
    system_on_trial  this boot is a trial of the system, whose health check decides
    installing       an installation holds the lock: it restarts the box and checks it
    """

    kept: str
    previous: str
    whole: frozenset[str]
    result: str
    status: int
    boot: str
    now_s: float
    slots: bool = False
    system: str = ""
    system_on_trial: bool = False
    installing: bool = False


@dataclass(frozen=True)
class Decision:
    """What to do. `link`: the new target of `current`; "": no change. `said`: a log line."""

    note: Note
    wait_s: float
    link: str = ""
    other_system: bool = False
    said: str = ""


# ── what to do: pure ─────────────────────────────────────────────────────────────────────────
def decide(note: Note, seen: Seen) -> Decision:
    """Decide what to do after this failure, given the earlier ones."""
    if seen.system_on_trial or seen.installing:
        who = "this system is on trial" if seen.system_on_trial else "a release is being installed"
        return Decision(note, OTHERS_WAIT_S, said=f"{who}: nothing is changed here")
    note, unfinished = _update_note(note, seen)
    if unfinished:
        return _change_release(note, seen, unfinished)
    orderly = seen.result in ("success", "start-limit-hit")
    hot = note.boot == seen.boot and seen.now_s - note.at_s < HOT_S
    if orderly and not hot:
        return Decision(_restarted(note, seen, 0.0), 0.0, said="it was restarted often: no failure")
    wait_s = WAITS_S[min(note.waits, len(WAITS_S) - 1)]
    note = replace(note, waits=note.waits + 1)
    if seen.status == SETTINGS and not orderly:
        said = f"its settings cannot be used: another try in {wait_s:g} s"
        return Decision(_restarted(note, seen, wait_s), wait_s, said=said)
    note = replace(note, failures=note.failures + 1, why=note.why or how(seen))
    if note.failures >= FAILURES or note.version in note.tried:
        note = replace(note, tried=tuple(dict.fromkeys((*note.tried, note.version))))
        if target := _other_release(note, seen):
            return _change_release(note, seen, target)
        if seen.slots and not note.other_tried:
            note = replace(note, other_tried=True, system_left=seen.system)
            said = f"the system {seen.system} is left: the other slot gets one start"
            again = _restarted(note, seen, OTHERS_WAIT_S)
            return Decision(again, OTHERS_WAIT_S, other_system=True, said=said)
    said = f"{note.version} failed ({how(seen)}): another start in {wait_s:g} s"
    return Decision(_restarted(note, seen, wait_s), wait_s, said=said)


def how(seen: Seen) -> str:
    """A short description of how the last start ended."""
    if seen.result == "exit-code" and seen.status == KEEPS_ENDING:
        return "a part that it needs ended again and again"
    return f"exit code {seen.status}" if seen.result == "exit-code" else seen.result


def _update_note(note: Note, seen: Seen) -> tuple[Note, str]:
    """The note for the current release, and the target of an interrupted change of release."""
    if note.going_to and note.version == seen.kept and note.going_to in seen.whole:
        return note, note.going_to
    if note.going_to and note.going_to == seen.kept:
        note = _after_change(note)
    if note.version != seen.kept:  # another release was installed or restored since
        return Note(version=seen.kept), ""
    well_s = seen.now_s - (note.at_s if note.boot == seen.boot else 0.0)
    if well_s >= WELL_S:
        note = replace(note, failures=0, waits=0, tried=(), other_tried=False,
                       why=note.why if note.left else "")  # fmt: skip
    return note, ""


def _other_release(note: Note, seen: Seen) -> str:
    """The release that replaces one that was given up; "" for none.

    It is the previous one, once; if that fails as well, the first one again. There is no other
    reason to return to a release that was left.
    """
    if note.left:
        back = note.left in note.tried and note.left in seen.whole
        return note.left if back else ""
    fits = seen.previous in seen.whole and seen.previous not in (*note.tried, seen.kept)
    return seen.previous if fits else ""


def _change_release(note: Note, seen: Seen, target: str) -> Decision:
    note = _restarted(replace(note, going_to=target), seen, 0.0)
    said = f"{note.version} does not stay up ({note.why}): {target} is started in its place"
    return Decision(note, 0.0, link=target, said=said)


def _after_change(note: Note) -> Note:
    """The note after the symlink points to `going_to`; `left` is "" after a return to the first."""
    returns = note.going_to in note.tried
    return replace(
        note, version=note.going_to, going_to="", failures=0, waits=0,
        left="" if returns else note.version,
    )  # fmt: skip


def _restarted(note: Note, seen: Seen, wait_s: float) -> Note:
    return replace(note, boot=seen.boot, at_s=round(seen.now_s + wait_s, 1))


# ── what is on the card ──────────────────────────────────────────────────────────────────────
class Disk:
    """All changes of the disk, one call each; each is atomic at a power cut."""

    def write(self, path: Path, data: bytes) -> None:
        temporary = path.with_name(f".{path.name}.new")
        temporary.unlink(missing_ok=True)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        with os.fdopen(fd, "wb") as target:
            os.fchmod(fd, 0o644)
            target.write(data)
            target.flush()
            os.fsync(fd)
        self._done()
        self._rename(temporary, path)

    def link(self, path: Path, target: str) -> None:
        temporary = path.with_name(f".{path.name}.new")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target)
        self._done()
        self._rename(temporary, path)

    def _rename(self, temporary: Path, path: Path) -> None:
        temporary.rename(path)
        self._done()
        fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def _done(self) -> None:
        """Called after each step; a test may end the process here."""


@dataclass(frozen=True)
class Box:
    """Paths and commands; a test uses its own."""

    root: Path = Path("/opt/interlude")
    given_up: Path = Path("/run/interlude-release/given-up")
    start: Path = Path("/run/interlude-start")
    command_line: Path = Path("/proc/cmdline")
    os_release: Path = Path("/usr/lib/os-release")
    systemctl: str = "systemctl"
    disk: Disk = field(default_factory=Disk)

    def note(self) -> Note:
        """The stored note; an empty one if there is none, or it cannot be read."""
        try:
            said = json.loads((self.root / NOTE).read_bytes())
            note = Note(**{**said, "tried": tuple(map(str, said.get("tried", ())))})
        except (OSError, ValueError, TypeError, AttributeError):
            return Note()
        fits = all(isinstance(getattr(note, key.name), type(key.default)) for key in fields(note))
        return note if fits else Note()

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Hold the lock of installations (update/install_lock.py); False if it is taken."""
        with contextlib.ExitStack() as stack:
            try:
                fd = os.open(self.root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                stack.callback(os.close, fd)
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError:  # a read-only card: no installation is possible either
                pass
            yield True

    def seen(self, *, installing: bool = False) -> Seen:
        result, status = self._result()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        trial = _text(self.start / "trial") == "yes" and (self.root / "system/trial.json").exists()
        system = re.search(r'^IMAGE_VERSION="?([^"\n]*)', _text(self.os_release), re.MULTILINE)
        kept = self._link_target("current")
        return Seen(
            kept, self._link_target("previous"), self._startable_releases(kept),
            result, status, boot, time.clock_gettime(time.CLOCK_BOOTTIME),
            self._has_slots(), system[1] if system else "", trial, installing,
        )  # fmt: skip

    def _result(self) -> tuple[str, int]:
        """systemd's result and the exit code; those of ended.py if the box was given up, because
        the last start only exited."""
        parts = _text(self.given_up).split()
        if len(parts) == 2 and parts[1].isdecimal():
            return parts[0], int(parts[1])
        done = subprocess.run(
            [self.systemctl, "show", UNIT, "--property=Result,ExecMainStatus"],
            capture_output=True, text=True, check=True, timeout=30,
        )  # fmt: skip
        said = dict(re.findall(r"^(\w+)=(.*)$", done.stdout, re.MULTILINE))
        return said.get("Result", ""), int(said.get("ExecMainStatus") or 0)

    def _has_slots(self) -> bool:
        """Whether the card has two slots: the initramfs or the command line names one."""
        return (self.start / "slot").exists() or "interlude.slot=" in _text(self.command_line)

    def carry_out(self, decision: Decision) -> None:
        """Write the note first, so that the next failure completes an interrupted change."""
        self._write(decision.note)
        if decision.link:
            self.disk.link(self.root / "current", f"releases/{decision.link}")
            self._write(_after_change(decision.note))
        if decision.other_system:
            command = [self.systemctl, "--no-block", "start", OTHER_SYSTEM]
            subprocess.run(command, check=False, timeout=30)

    def _write(self, note: Note) -> None:
        self.disk.write(self.root / NOTE, json.dumps(asdict(note)).encode())

    def _link_target(self, name: str) -> str:
        try:
            version = (self.root / name).readlink().name
        except OSError:
            return ""
        return version if VERSION.fullmatch(version) else ""

    def _startable_releases(self, kept: str) -> frozenset[str]:
        """The complete releases that may be started, of which `kept` is the current one."""
        done = subprocess.run(
            [STARTABLE, kept], stdout=subprocess.PIPE, text=True, check=True, timeout=120,
            env={**os.environ, "INTERLUDE_ROOT": str(self.root)},
        )  # fmt: skip
        return frozenset(done.stdout.split())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def main() -> int:
    root = Path(os.environ.get("INTERLUDE_ROOT", "/opt/interlude"))
    given_up = Path(os.environ.get("INTERLUDE_GIVEN_UP", Box.given_up))
    start = Path(os.environ.get("INTERLUDE_START", "/run/interlude-start"))
    box = Box(root, given_up, start, systemctl=os.environ.get("INTERLUDE_SYSTEMCTL", "systemctl"))
    with box.alone() as free:
        decision = decide(box.note(), box.seen(installing=not free))
        print(decision.said, file=sys.stderr)
        try:
            box.carry_out(decision)
        except OSError as error:  # a read-only card: the box is started all the same
            print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    print(f"{decision.wait_s:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
