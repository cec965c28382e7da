"""Installs a release: verifies it, unpacks it, tries it, and keeps it or rolls it back.

After a power cut at any point, the box has a complete release to start: the old one until the
symlink `current` points to the new one, which by then has passed its health check. The link of the
trial is in memory.

A release that closes a hole (policy.py) is tried three times and then kept: a part of the box that
an attacker controls can make any health check fail, and could otherwise prevent its own repair.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.errors import HealthCheckFailed, InstallDeferred, ReleaseRefused, ShownAs
from appliance.runtime.status import SupervisorStatus
from appliance.update.handed_over_file import HandedOverFile, open_handed_over
from appliance.update.health_check import HealthCheck
from appliance.update.progress import Progress, ReportShare, unreported_progress
from appliance.update.release import policy as policies
from appliance.update.release import rejected, security_record
from appliance.update.release.archive import RELEASE, ReleaseArchive
from appliance.update.release.rejected import RejectedRelease, RejectionCause
from appliance.update.release.signer_rotation import change_signers
from appliance.update.release.store import ReleaseStore
from appliance.update.release.target import InstallTarget, SelfTestInterrupted
from appliance.update.signature import SIGNERS
from appliance.update.signed_manifest import fits
from appliance.update.wait_until_idle import wait_for_quiet
from appliance.update.watch_trial import watch_trial

WAIT_S = 900.0  # for a conversation to end
SECURITY_TRIES = 3  # of a release that closes a hole
COPY = ".handed.release"  # name of the copy until it is unlinked; ReleaseStore.tidy removes it too


@dataclass(frozen=True)
class InstallOptions:
    """Options of an installation.

    downgrade  accept a release older than the kept one or below the floor, and a return to one
               whose key is no longer trusted
    wait_s     longest wait for the end of a conversation; 0: fail at once during one
    start      try it at once; off where no box runs, as in a chroot: then it is kept untried
    asked_by   the user without privileges whose note requested it; "" for root's command
    """

    downgrade: bool = False
    wait_s: float = WAIT_S
    start: bool = True
    asked_by: str = ""


@dataclass(frozen=True)
class ReleaseInstaller:
    """Installs releases on this box and rolls them back."""

    store: ReleaseStore
    box: InstallTarget
    signers: Path = SIGNERS
    progress: Progress = unreported_progress

    def install(self, file: Path | HandedOverFile, options: InstallOptions | None = None) -> bool:
        """Install a release. Returns False if the same release is kept and runs already.

        Raises ReleaseRefused, InstallDeferred, HealthCheckFailed (the box runs the kept release
        again), StorageError.
        """
        options = options or InstallOptions()
        with self._locked(), open_handed_over(file, RELEASE.most_bytes) as source:
            self._clean_up(options)
            change_signers(self.store, self.signers)  # if the last installation did not come to it
            archive = ReleaseArchive(source, self.signers)
            manifest = archive.manifest
            kept = self.store.kept() if options.downgrade else self.store.floor()
            fits(manifest, kept, downgrade=options.downgrade, now_s=self.box.clock_s())
            if not options.downgrade:
                self.store.security().check(manifest.version)
            self._unpack(archive)
            if manifest.version == kept and (not options.start or self._runs(manifest.version)):
                return False
            policy = policies.read(self.store.folder(manifest.version), manifest.version)
            self._activate(manifest.version, options, SECURITY_TRIES if policy.security else 1)
            self._prune()
            return True

    def rollback(self, options: InstallOptions | None = None) -> str:
        """Go back to the previous release if it passes its trial. Returns its version.

        Raises ReleaseRefused for one below the floor, or whose key is no longer trusted."""
        options = options or InstallOptions()
        with self._locked():
            self._clean_up(options)
            previous = self.store.previous()
            if previous is None:
                raise ReleaseRefused(
                    "There is no earlier release to go back to.",
                    shown=ShownAs.of("page-wrong-nothing-before"),
                )
            if not options.downgrade:
                self.store.check_return(previous, self.signers)
            self._activate(previous, options)
            return previous

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the installation lock, while no system is on trial: the health check of that trial
        would count a restart of the box as a fault of the system. Raises InstallDeferred."""
        with self.store.locked():
            if self.store.system_on_trial():
                problem = "A system is on trial."
                raise InstallDeferred(
                    problem,
                    "Wait for the trial to end, or restart the machine.",
                    shown=ShownAs.of("page-wrong-system-on-trial"),
                )
            yield

    def _clean_up(self, options: InstallOptions) -> None:
        """Remove what a killed installation left; the lock excludes one that still runs.

        Its trial ends with a restart of the box, after the end of a conversation."""
        self.store.tidy()
        if self.store.trial_link.is_symlink():
            interrupted = self.store.on_trial() != self.store.kept()
            if interrupted:
                wait_for_quiet(self.box, options.wait_s, self.progress)
            self.store.end_trial()
            if interrupted:
                self.box.restart()

    def _unpack(self, archive: ReleaseArchive) -> None:
        """Unpack the tree into its folder, unless the complete release is there already."""
        manifest, store = archive.manifest, self.store
        unpacked = store.manifest(manifest.version)
        if unpacked == manifest:
            store.keep_signatures(manifest.version, archive.manifest_bytes, archive.signatures)
            return
        if unpacked is not None:
            if manifest.version in (store.kept(), store.previous()):
                problem = f"Another {manifest.version} is installed already, with other files."
                raise ReleaseRefused(
                    problem,
                    "A version is given once: make a new one.",
                    shown=ShownAs.of("page-wrong-other-files", version=manifest.version),
                )
            store.disk.remove_tree(store.folder(manifest.version))  # it was never kept
        part = store.releases / f".{manifest.version}.part"
        archive.unpack(
            part, store.root / COPY, store.disk,
            verified=self._share("verify"), unpacked=self._share("unpack"),
        )  # fmt: skip
        store.add(part, manifest.version)

    def _activate(self, version: str, options: InstallOptions, tries: int = 1) -> None:
        """Try an unpacked release, and keep it if it passes its health check; after several failed
        `tries` it is kept, too."""
        self._self_test(version, tries)
        why = ""
        if options.start:
            try:
                wait_for_quiet(self.box, options.wait_s, self.progress)
            except InstallDeferred:  # a part can claim for ever that somebody talks with the box
                if tries == 1:
                    raise
            why = self._try(version, tries)
        self._commit(version, options.asked_by, why)
        if options.start:
            self.store.end_trial()
            if why:
                self.box.restart()  # an earlier release may have been started after the failure
        change_signers(self.store, self.signers)
        self.progress("kept", 1.0)

    def _self_test(self, version: str, tries: int) -> None:
        """Run the release's self-test. Raises ReleaseRefused, but not for a test that another
        process may have ended, after several `tries`."""
        for _ in range(tries):
            self.progress("self-test", 0.0)
            try:
                return self.box.run_selftest(self.store.folder(version))
            except SelfTestInterrupted:
                if tries == 1:
                    raise
        return None

    def _commit(self, version: str, asked_by: str, unwell: str) -> None:
        """Keep a release. If the one kept so far is newer, it is first noted as rejected, so that
        no power cut can come between the return and its note. `unwell`: its failure, if it is kept
        in spite of one."""
        store, kept = self.store, self.store.kept()
        if kept is not None and rejected.is_newer(kept, version):
            self._reject(kept, "returned", asked_by)
        with suppress(OSError, ReleaseRefused):
            record = store.security().raised(policies.read(store.folder(version), version))
            record = msgspec.structs.replace(record, unwell=version if unwell else "", why=unwell)
            security_record.write(store.root, record, store.disk)
        store.commit(version)
        with suppress(OSError):
            rejected.forgive(store.root, version, store.disk)

    def _reject(self, version: str, why: RejectionCause, asked_by: str = "") -> None:
        """Note a release that automatic updates must not install again. An OSError is ignored: the
        installation does not depend on the note."""
        manifest = self.store.manifest(version)
        tree_sha256 = manifest.tree_sha256 if manifest else ""
        release = RejectedRelease(version, why, tree_sha256, asked_by, self.box.clock_s())
        with suppress(OSError):
            rejected.reject(self.store.root, release, self.store.disk)

    def _try(self, version: str, tries: int) -> str:
        """Start a release and watch it, `tries` times at most. Returns "" if it is healthy.

        After a failed single try, raises HealthCheckFailed once the box runs the kept release
        again. After several, returns what is wrong: the release runs, or ran last."""
        before = self.box.read_health().status
        why, pid = "", before.pid if before else 0
        for _ in range(tries):
            self.store.begin_trial(version)
            why = self._start(HealthCheck(version, before, stale_pid=pid), "try")
            if not why:
                return ""
            now = self.box.read_health().status
            pid = now.pid if now else pid
        if tries == 1:
            self._reject(version, "failed")
            self.store.end_trial()
            self._roll_back(version, why, before)
        return why

    def _roll_back(self, version: str, why: str, before: SupervisorStatus | None) -> None:
        kept = self.store.kept()
        if kept is None:
            raise HealthCheckFailed(
                f"{version} failed its health check: {why}. There is no version to go back to.",
                shown=ShownAs.of("page-wrong-unwell-alone", version=version, why=why),
            )
        if worse := self._start(HealthCheck(kept, before), "go back"):
            problem = (
                f"{version} failed its health check: {why}. "
                f"Back on {kept}, the box is not well: {worse}."
            )
            raise HealthCheckFailed(
                problem,
                "`interlude check` and the log say more.",
                shown=ShownAs.of("page-wrong-unwell-both", version=version, kept=kept, why=why),
            )
        raise HealthCheckFailed(
            f"{version} failed its health check: {why}. The box is back on {kept}, and works.",
            shown=ShownAs.of("page-wrong-unwell", version=version, kept=kept, why=why),
        )

    def _start(self, check: HealthCheck, step: str) -> str:
        """Restart the box and watch until the health check decides: "" if it is healthy, else what
        is wrong."""
        self.box.restart()
        return watch_trial(check, self.box, self._share(step))

    def _runs(self, version: str) -> bool:
        status = self.box.read_health().status
        return status is not None and status.version == version

    def _prune(self) -> None:
        for version in (*self.store.drop_untrusted(self.signers), *self.store.prune()):
            self.progress(f"remove {version}", 1.0)

    def _share(self, step: str) -> ReportShare:
        return lambda share: self.progress(step, share)
