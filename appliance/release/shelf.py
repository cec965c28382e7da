"""The releases that lie on the box, and which of them runs.

/opt/interlude/releases/0.1.0/   whole when its release.json is there, which is written last
/opt/interlude/current           the release that is kept; what starts after a power cut
/opt/interlude/previous          the one before it
/run/interlude-release/trial     the release that is being tried; in memory, gone with the power
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from appliance.release import manifest as manifests
from appliance.release.disk import Disk
from appliance.release.lock import alone
from appliance.release.manifest import Manifest, version_key

ROOT = Path("/opt/interlude")
TRIAL = Path("/run/interlude-release")
KEEP = 3  # releases on the card: the one that is kept, the one before, and one more


@dataclass(frozen=True)
class Shelf:
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

    # ── reading ──────────────────────────────────────────────────────────────────────────────
    def kept(self) -> str | None:
        """The version that starts after a power cut."""
        return self._leads_to(self.root / "current")

    def previous(self) -> str | None:
        """The version that was kept before."""
        found = self._leads_to(self.root / "previous")
        return found if found != self.kept() else None

    def on_trial(self) -> str | None:
        return self._leads_to(self.trial_link)

    def installed(self) -> list[Manifest]:
        """Every whole release, newest first."""
        if not self.releases.is_dir():
            return []
        named = [path for path in self.releases.iterdir() if not path.name.startswith(".")]
        found = [manifest for path in named if (manifest := manifests.read(path))]
        return sorted(found, key=lambda manifest: version_key(manifest.version), reverse=True)

    def manifest(self, version: str) -> Manifest | None:
        return manifests.read(self.folder(version))

    # ── changing ─────────────────────────────────────────────────────────────────────────────
    @contextmanager
    def alone(self) -> Iterator[None]:
        """One installation at a time. Raises NotNow; the lock ends with its process."""
        self.disk.make_folder(self.releases)
        self.disk.make_folder(self.trial_folder)
        with alone(self.root / ".lock"):
            yield

    def tidy(self) -> None:
        """Remove what an installation left behind that was cut short. Only when `alone`."""
        for path in self.releases.glob(".*"):
            self.disk.remove_tree(path)
        for path in self.releases.iterdir():
            if manifests.read(path) is None:
                self.disk.remove_tree(path)

    def begin_trial(self, version: str) -> None:
        self.disk.link(self.trial_link, self.folder(version))

    def end_trial(self) -> None:
        self.disk.remove(self.trial_link)

    def keep(self, version: str) -> None:
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

    def _leads_to(self, link: Path) -> str | None:
        """The version of the whole release that `link` leads to; None if it leads to none."""
        try:
            version = link.readlink().name
        except OSError:
            return None
        return version if manifests.read(self.folder(version)) else None
