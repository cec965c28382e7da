"""A workshop that makes releases, a target made of files to install them on, and a disk that can
fail."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import ReleaseRefused
from appliance.runtime.status import SupervisorStatus
from appliance.update.archive_parts import sign_archive
from appliance.update.health_check import Activity, HealthReading
from appliance.update.release.disk_changes import Disk
from appliance.update.release.installer import ReleaseInstaller
from appliance.update.release.pack import pack
from appliance.update.release.store import ReleaseStore
from appliance.update.signature import WHO

MADE_S = 1_780_000_000
KINDS = ("good", "crashes", "hangs", "gives up speaker", "fails its self-test")


@dataclass
class Workshop:
    """Keys, and releases of a tiny tree whose file `kind` determines how the box behaves."""

    folder: Path
    key: Path = field(init=False)
    signers: Path = field(init=False)

    def __post_init__(self) -> None:
        self.key, self.signers = self.new_key("maker"), self.folder / "allowed_signers"
        self.trust(self.key)

    def new_key(self, name: str) -> Path:
        path = self.folder / name
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True
        )
        return path

    def trust(self, *keys: Path) -> None:
        lines = [f"{WHO} {key.with_suffix('.pub').read_text()}" for key in keys]
        self.signers.write_text("".join(lines))

    def make(
        self,
        version: str,
        kind: str = "good",
        *,
        key: Path | None = None,
        machine: str = "any",
        python: str = "any",
        made_s: int = MADE_S,
        files: int = 3,
        policy: Mapping[str, object] | None = None,
        more: Mapping[str, bytes] | None = None,
    ) -> Path:
        """Make and sign a release. `policy`: the content of its policy/policy.json. `more`: further
        files in its folder policy."""
        tree = self.folder / f"tree-{version}-{kind.replace(' ', '-')}"
        (tree / "bin").mkdir(parents=True, exist_ok=True)
        command = tree / "bin/interlude"
        command.write_text(f"#!/bin/sh\necho {version} {kind}\n")
        command.chmod(0o755)
        (tree / "kind").write_text(kind)
        (tree / "lib").mkdir(exist_ok=True)
        for number in range(files):
            (tree / f"lib/module_{number}.py").write_text(f"VERSION = '{version}'\n" * 50)
        link = tree / "lib/newest.py"
        if not link.is_symlink():
            link.symlink_to("module_0.py")
        shutil.rmtree(tree / "policy", ignore_errors=True)
        files_of_policy = dict(more or {})
        if policy is not None:
            files_of_policy["policy/policy.json"] = json.dumps(dict(policy)).encode()
        for name, data in files_of_policy.items():
            (tree / "policy").mkdir(exist_ok=True)
            (tree / name).write_bytes(data)
        into = self.folder / "made"
        into.mkdir(exist_ok=True)
        archive = pack(tree, into, version=version, machine=machine, python=python, made_s=made_s)
        sign_archive(archive, key or self.key)
        return archive


@dataclass
class PaperBox:
    """A target made of files whose clock advances only while it waits. It runs the release that the
    `start` script would."""

    store: ReleaseStore
    runs: str = ""
    clock: float = MADE_S + 1000.0
    time_s: float = 100.0
    restarts: int = 0
    started_s: float = -1000.0
    state: str = "idle"
    quiet_at_s: float = 0.0
    unfit: bool = False

    def restart(self) -> None:
        self.restarts += 1
        self.runs = self.store.on_trial() or self.store.kept() or ""
        self.started_s = self.time_s

    def read_health(self) -> HealthReading:
        if not self.runs:
            return HealthReading("stopped")
        kind = (self.store.folder(self.runs) / "kind").read_text()
        up_s = self.time_s - self.started_s
        activity: Activity = "active" if up_s >= 1.0 else "starting"
        if kind == "crashes" and up_s >= 2.0:
            return HealthReading("starting", restarts=1)
        if kind == "hangs":
            return HealthReading("starting")
        gave_up = ("speaker",) if kind == "gives up speaker" and up_s >= 3.0 else ()
        talking = self.time_s < self.quiet_at_s
        status = SupervisorStatus(
            version=self.runs,
            pid=1000 + self.restarts,
            state="speaking" if talking else self.state,
            ready=up_s >= 1.0,
            healthy=not self.unfit,
            failed=gave_up,
        )
        return HealthReading(activity, status=status)

    def run_selftest(self, release: Path) -> None:
        if (release / "kind").read_text() == "fails its self-test":
            raise ReleaseRefused("Its self-test failed: no module named soxr")

    def clock_s(self) -> float:
        return self.clock

    def now_s(self) -> float:
        return self.time_s

    def wait(self, seconds: float) -> None:
        self.time_s += seconds


class MortalDisk(Disk):
    """A disk that kills its process with SIGKILL after `dies_after` changes, and counts the
    changes."""

    def __init__(self, dies_after: int = 1 << 30) -> None:
        self.changes = 0
        self._dies_after = dies_after

    def _done(self) -> None:
        self.changes += 1
        if self.changes >= self._dies_after:
            os.kill(os.getpid(), signal.SIGKILL)


class TightDisk(Disk):
    """A disk with little space: it reports so, or fills up after `full_after` changes."""

    def __init__(self, free: int, full_after: int = 1 << 30) -> None:
        self._free, self._left = free, full_after

    def free_bytes(self, folder: Path) -> int:
        return self._free

    def _done(self) -> None:
        self._left -= 1
        if self._left < 0:
            self._left = 1 << 30  # removing files frees space
            raise OSError(28, "No space left on device")


@dataclass
class Bench:
    """A workshop, the store of a box and the box itself."""

    shop: Workshop
    store: ReleaseStore
    box: PaperBox
    steps: list[str] = field(default_factory=list)

    def installer(self, disk: Disk | None = None) -> ReleaseInstaller:
        store = ReleaseStore(self.store.root, self.store.trial_folder, disk or Disk())
        return ReleaseInstaller(store, self.box, self.shop.signers, self._note)

    def _note(self, step: str, share: float) -> None:
        assert 0.0 <= share <= 1.0
        if self.steps[-1:] != [step]:
            self.steps.append(step)


def bench(folder: Path) -> Bench:
    """A workshop and a box without a release, below `folder`."""
    shop = folder / "shop"
    shop.mkdir()
    store = ReleaseStore(folder / "opt", folder / "run")
    return Bench(Workshop(shop), store, PaperBox(store))
