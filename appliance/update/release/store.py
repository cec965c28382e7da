"""The releases that lie on the box, and which of them runs.

/opt/interlude/releases/0.1.0/   whole when its release.json is there, which is written last
/opt/interlude/current           the release that is kept; what starts after a power cut
/opt/interlude/previous          the one before it
/run/interlude-release/trial     the release that is being tried; in memory, gone with the power
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import ReleaseRefused, StorageError
from appliance.update.install_lock import locked as alone
from appliance.update.release import manifest as manifests
from appliance.update.release.disk_changes import Disk
from appliance.update.release.manifest import ReleaseManifest
from appliance.update.signed_manifest import version_key

ROOT = Path("/opt/interlude")
SYSTEM = "system"  # below it: what is known of the slots, see update/system/slot_state.py
SYSTEM_TRIAL = "trial.json"  # there, as long as a system is on trial
TRIAL = Path("/run/interlude-release")
KEEP = 3  # releases on the card: the one that is kept, the one before, and one more


@dataclass(frozen=True)
class ReleaseStore:
    """A box's releases. Reading needs no rights; what changes something is for root."""

    root: Path = ROOT
    trial_folder: Path = TRIAL
    disk: Disk = field(default_factory=Disk)

    @property
    def releases(self) -> Path:
        return self.root / "releases"

    @property
    def trial_link(self) -> Path:
        return self.trial_folder / "trial"

    def folder(self, version: str) -> Path:
        return self.releases / version

    def kept(self) -> str | None:
        """The version that starts after a power cut; None if there is none, or the disk does not
        say. By the link's name: also that of a release whose manifest cannot be read any more."""
        try:
            return self.floor()
        except StorageError:
            return None

    def floor(self) -> str | None:
        """The version that nothing older may replace; None if no release was ever kept.

        Raises StorageError where one was kept and the disk does not say which: then every older
        release that was ever signed would pass for a new one.
        """
        try:
            version = (self.root / "current").readlink().name
            version_key(version)
        except FileNotFoundError:
            return None
        except (OSError, ReleaseRefused) as error:
            problem = f"{self.root / 'current'} does not say which release is kept."
            remedy = "If the release is meant to replace it, whatever it was: --downgrade."
            raise StorageError(problem, remedy) from error
        return version

    def previous(self) -> str | None:
        """The version that was kept before."""
        found = self._leads_to(self.root / "previous")
        return found if found != self.kept() else None

    def on_trial(self) -> str | None:
        return self._leads_to(self.trial_link)

    def installed(self) -> list[ReleaseManifest]:
        """Every whole release, newest first."""
        if not self.releases.is_dir():
            return []
        named = [path for path in self.releases.iterdir() if not path.name.startswith(".")]
        found = [manifest for path in named if (manifest := manifests.read(path))]
        return sorted(found, key=lambda manifest: version_key(manifest.version), reverse=True)

    def manifest(self, version: str) -> ReleaseManifest | None:
        return manifests.read(self.folder(version))

    def system_on_trial(self) -> bool:
        """Whether a system waits to be started, or was started and is watched."""
        return os.path.lexists(self.root / SYSTEM / SYSTEM_TRIAL)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One installation at a time, of a release or of a system: either would restart what the
        other watches. Raises InstallDeferred; the lock ends with its process."""
        self.disk.make_folder(self.releases)
        self.disk.make_folder(self.trial_folder)
        with alone(self.root / ".lock"):
            yield

    def tidy(self) -> None:
        """Remove what an installation left behind that was cut short. Only when `alone`.

        What is kept, or may be gone back to, stays even if its manifest cannot be read: it may be
        what runs, and the reading may have failed only once.
        """
        links = (self.root / "current", self.root / "previous", self.trial_link)
        held = {link.readlink().name for link in links if link.is_symlink()}
        for path in list(self.releases.iterdir()):
            hidden = path.name.startswith(".")
            if hidden or (path.name not in held and manifests.read(path) is None):
                self._remove(path)
        for path in self.root.glob(".*.release"):  # a copy of what was handed over
            self._remove(path)

    def add(self, part: Path, version: str) -> None:
        """`part`, which is unpacked, becomes that release. One of that version without a readable
        manifest makes room first: two renames, without any removal in between."""
        folder = self.folder(version)
        gone = part.with_suffix(".gone")
        damaged = os.path.lexists(folder)
        if damaged:
            self.disk.rename(folder, gone)
        self.disk.rename(part, folder)
        if damaged:
            self.disk.remove_tree(gone)

    def begin_trial(self, version: str) -> None:
        self.disk.link(self.trial_link, self.folder(version))

    def end_trial(self) -> None:
        self.disk.remove(self.trial_link)

    def commit(self, version: str) -> None:
        """From now on `version` is what starts; what was kept is where to go back to."""
        before = self.kept()
        if before == version:
            return
        if before is not None:
            self.disk.link(self.root / "previous", f"releases/{before}")
        self.disk.link(self.root / "current", f"releases/{version}")

    def prune(self, keep: int = KEEP) -> list[str]:
        """Remove the oldest beyond `keep`; never one that runs or that may be gone back to."""
        held = {self.kept(), self.previous(), self.on_trial()}
        free = [m.version for m in self.installed() if m.version not in held]
        room = max(0, keep - len([version for version in held if version]))
        for version in free[room:]:
            self.disk.remove_tree(self.folder(version))
        return free[room:]

    def _remove(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            self.disk.remove_tree(path)
        else:
            self.disk.remove(path)

    def _leads_to(self, link: Path) -> str | None:
        """The version of the whole release that `link` leads to; None if it leads to none."""
        try:
            version = link.readlink().name
        except OSError:
            return None
        return version if manifests.read(self.folder(version)) else None
