"""The releases on the box's disk, and the symlinks that choose the one that runs.

/opt/interlude/releases/0.1.0/   complete if it has a release.json, which is written last; its
                                 signatures are in release.json.sig
/opt/interlude/current           the kept release, which starts after a power cut
/opt/interlude/previous          the release that was kept before
/run/interlude-release/trial     the release on trial; in memory, lost with a power cut
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import ReleaseRefused, ShownAs, StorageError
from appliance.update import signature
from appliance.update.install_lock import locked as alone
from appliance.update.release import manifest as manifests
from appliance.update.release import policy as policies
from appliance.update.release import security_record
from appliance.update.release.disk_changes import Disk
from appliance.update.release.manifest import ReleaseManifest
from appliance.update.release.security_record import SecurityRecord
from appliance.update.signature import UntrustedSignature
from appliance.update.signed_manifest import version_key

ROOT = Path("/opt/interlude")
SYSTEM = "system"  # folder below ROOT with the state of the slots: update/system/slot_state.py
SYSTEM_TRIAL = "trial.json"  # in that folder, exists as long as a system is on trial
TRIAL = Path("/run/interlude-release")
KEEP = 3  # releases on the disk: the kept one, the previous one, and one more


@dataclass(frozen=True)
class ReleaseStore:
    """Reads and changes the releases of a box. Every user may read; changes need root."""

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
        """The version that starts after a power cut; None if there is none, or `current` cannot be
        read. It comes from the link's target, so the release's manifest need not be readable."""
        try:
            return self.floor()
        except StorageError:
            return None

    def floor(self) -> str | None:
        """The kept version, the oldest that may be installed; None if no release was ever kept.

        Raises StorageError if `current` exists and cannot be read: otherwise every older signed
        release would be accepted as newer.
        """
        try:
            version = (self.root / "current").readlink().name
            version_key(version)
        except FileNotFoundError:
            return None
        except (OSError, ReleaseRefused) as error:
            problem = f"{self.root / 'current'} does not say which release is kept."
            remedy = "To replace it by the release, whichever it was: --downgrade."
            raise StorageError(problem, remedy) from error
        return version

    def previous(self) -> str | None:
        """The version that was kept before; None if there is none."""
        found = self._version_at(self.root / "previous")
        return found if found != self.kept() else None

    def on_trial(self) -> str | None:
        return self._version_at(self.trial_link)

    def installed(self) -> list[ReleaseManifest]:
        """The manifests of all complete releases, newest first."""
        if not self.releases.is_dir():
            return []
        named = [path for path in self.releases.iterdir() if not path.name.startswith(".")]
        found = [manifest for path in named if (manifest := manifests.read(path))]
        return sorted(found, key=lambda manifest: version_key(manifest.version), reverse=True)

    def manifest(self, version: str) -> ReleaseManifest | None:
        return manifests.read(self.folder(version))

    def security(self) -> SecurityRecord:
        """What the box remembers, raised by the policy of the kept release: a power cut, or the
        installer of an earlier version, may have left that out."""
        record, kept = security_record.read(self.root), self.kept()
        with suppress(ReleaseRefused):
            if kept is not None:
                return record.raised(policies.read(self.folder(kept), kept))
        return record

    def check_return(self, version: str, signers: Path) -> None:
        """Raise ReleaseRefused for a release below the floor, or whose key is no longer trusted.

        A release without kept signatures passes: it came with the card, or an earlier version of
        the installer, which kept none, has verified it.
        """
        self.security().check(version)
        if self.trusts(version, signers) is False:
            problem = f"{version} is signed with a key that this box no longer trusts."
            shown = ShownAs.of("page-wrong-unsigned")
            raise ReleaseRefused(problem, f"The trusted keys are in {signers}.", shown=shown)

    def trusts(self, version: str, signers: Path) -> bool | None:
        """Whether trusted keys signed an installed release; None if it has no signatures.

        Raises ReleaseRefused if that cannot be found out."""
        folder = self.folder(version)
        try:
            signatures = (folder / manifests.SIGNATURES).read_bytes()
            signature.verify((folder / manifests.NAME).read_bytes(), signatures, signers)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ReleaseRefused(f"{folder} cannot be read ({error.strerror}).") from error
        except UntrustedSignature:
            return False
        return True

    def drop_untrusted(self, signers: Path) -> list[str]:
        """Remove the releases whose keys are no longer trusted, if the kept one's is. Returns the
        removed versions.

        The kept release and the one on trial stay, so that the box always has one to start.
        """
        kept, stays = self.kept(), {self.kept(), self.on_trial()}
        others = [each.version for each in self.installed() if each.version not in stays]
        try:
            if kept is None or not self.trusts(kept, signers):
                return []
            dropped = [version for version in others if self.trusts(version, signers) is False]
        except ReleaseRefused:
            return []
        for version in dropped:
            if self.previous() == version:
                self.disk.remove(self.root / "previous")
            self.disk.remove_tree(self.folder(version))
        return dropped

    def system_on_trial(self) -> bool:
        """Whether a system waits for the start of its trial, or is on trial."""
        return os.path.lexists(self.root / SYSTEM / SYSTEM_TRIAL)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock that allows one installation at a time, of a release or of a system: each
        would restart what the other watches. Raises InstallDeferred."""
        self.disk.make_folder(self.releases)
        self.disk.make_folder(self.trial_folder)
        with alone(self.root / ".lock"):
            yield

    def tidy(self) -> None:
        """Remove what an interrupted installation left. Call it with the lock held.

        The kept release, the previous one and the one on trial stay even if their manifests cannot
        be read: one of them may run, and the read error may be temporary.
        """
        links = (self.root / "current", self.root / "previous", self.trial_link)
        linked = {link.readlink().name for link in links if link.is_symlink()}
        for path in list(self.releases.iterdir()):
            hidden = path.name.startswith(".")
            if hidden or (path.name not in linked and manifests.read(path) is None):
                self._remove(path)
        for path in self.root.glob(".*.release"):  # a copy of an archive
            self._remove(path)

    def add(self, part: Path, version: str) -> None:
        """Rename the unpacked folder `part` to that release's folder.

        A folder of that version without a readable manifest is renamed before and removed after, so
        that the two renames follow each other directly."""
        folder = self.folder(version)
        replaced = part.with_suffix(".gone")
        damaged = os.path.lexists(folder)
        if damaged:
            self.disk.rename(folder, replaced)
        self.disk.rename(part, folder)
        if damaged:
            self.disk.remove_tree(replaced)

    def keep_signatures(self, version: str, manifest: bytes, signatures: bytes) -> None:
        """Keep other signatures of an installed release than so far, if they are of the very bytes
        of its manifest. An OSError is ignored: the release has been verified."""
        folder = self.folder(version)
        kept = folder / manifests.SIGNATURES
        with suppress(OSError):
            same = kept.is_file() and kept.read_bytes() == signatures
            if not same and (folder / manifests.NAME).read_bytes() == manifest:
                self.disk.write_whole(kept, signatures)

    def begin_trial(self, version: str) -> None:
        self.disk.link(self.trial_link, self.folder(version))

    def end_trial(self) -> None:
        self.disk.remove(self.trial_link)

    def commit(self, version: str) -> None:
        """Make `version` the kept release, and the kept one the previous one."""
        before = self.kept()
        if before == version:
            return
        if before is not None:
            self.disk.link(self.root / "previous", f"releases/{before}")
        self.disk.link(self.root / "current", f"releases/{version}")

    def prune(self, keep: int = KEEP) -> list[str]:
        """Remove the oldest releases beyond `keep`, but not the kept one, the previous one or the
        one on trial. Returns the removed versions."""
        needed = {self.kept(), self.previous(), self.on_trial()}
        removable = [m.version for m in self.installed() if m.version not in needed]
        room = max(0, keep - len([version for version in needed if version]))
        for version in removable[room:]:
            self.disk.remove_tree(self.folder(version))
        return removable[room:]

    def _remove(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            self.disk.remove_tree(path)
        else:
            self.disk.remove(path)

    def _version_at(self, link: Path) -> str | None:
        """The version of the complete release that `link` points to; None if there is none."""
        try:
            version = link.readlink().name
        except OSError:
            return None
        return version if manifests.read(self.folder(version)) else None
