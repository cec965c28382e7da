"""Updates the system: writes the other slot, boots it once, and keeps it if it is healthy.

install       writes the slot and reboots into its trial
settle_trial  runs at every boot: a system on trial that passes its health check becomes the default
              by one write of one sector; after a failure the machine reboots into the old slot
begin_trial   the same trial for the system that the other slot already has

A trial without an end (a kernel that hangs, a power cut) is over with the next boot: the firmware's
flag holds for one boot, the watchdog resets a machine that hangs, and the old system starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.errors import (
    HealthCheckFailed,
    InstallDeferred,
    InterludeError,
    ReleaseRefused,
    ShownAs,
    StorageError,
)
from appliance.update.handed_over_file import HandedOverFile, open_handed_over
from appliance.update.health_check import HealthCheck
from appliance.update.progress import Progress, unreported_progress
from appliance.update.release.installer import SECURITY_TRIES, InstallOptions
from appliance.update.release.rejected import is_newer
from appliance.update.release.store import ReleaseStore
from appliance.update.signature import SIGNERS
from appliance.update.signed_manifest import fits
from appliance.update.system.archive import SYSTEM_ARCHIVE, SystemArchive
from appliance.update.system.block_device import PartitionedDisk
from appliance.update.system.fat32 import FatFileSystem
from appliance.update.system.slot import AUTOBOOT, CONFIG, SLOTS, SlotName, autoboot, other, starts
from appliance.update.system.slot_state import (
    SlotContent,
    SlotStateFile,
    SlotTrial,
    SlotTrialResult,
)
from appliance.update.system.slot_writer import bootable, write_slot
from appliance.update.system.target import SystemTarget, runs_from
from appliance.update.wait_until_idle import wait_for_quiet
from appliance.update.watch_trial import watch_trial

NO_PID = -1  # in the status before the trial: after a reboot no process is the same as before


@dataclass(frozen=True)
class SystemUpdater:
    """Installs systems on the SD card of one machine, and settles their trials."""

    card: PartitionedDisk
    slot_state: SlotStateFile
    machine: SystemTarget
    store: ReleaseStore
    signers: Path = SIGNERS
    progress: Progress = unreported_progress

    def install(self, file: Path | HandedOverFile, options: InstallOptions | None = None) -> bool:
        """Write the system in `file` to the other slot, and reboot into its trial.

        Returns False if it runs already. With `options.start` off it is only written, and a later
        `begin_trial` tries it. Raises ReleaseRefused, InstallDeferred, StorageError.
        """
        options = options or InstallOptions()
        runs_from(self.machine.slot())
        with self._locked(), open_handed_over(file, SYSTEM_ARCHIVE.most_bytes) as source:
            running, target = self._slots()
            archive = SystemArchive(source, self.signers)
            manifest = archive.manifest
            installed = self._floor(options)
            fits(
                manifest, installed, downgrade=options.downgrade, now_s=self.machine.clock_s(),
                back="interlude system rollback",
            )  # fmt: skip
            if not options.downgrade:
                self.store.security().check(manifest.version, system=True)
            archive.verify(lambda share: self.progress("verify", share))
            content = SlotContent.of_archive(archive)
            if manifest.version == installed:
                return self._check_same(running, content)
            if not content.is_same(self.slot_state.content(target)):
                self._write(archive, target, content)
            if options.start:
                self._try(target, content.version, options.wait_s)
            return True

    def begin_trial(self, wait_s: float, *, downgrade: bool = False) -> str:
        """Reboot into the system in the other slot, as a trial. Returns its version.

        Raises ReleaseRefused if there is none and, without `downgrade`, for one below the floor or
        whose key is no longer trusted; InstallDeferred during a conversation.
        """
        runs_from(self.machine.slot())
        with self._locked():
            _, target = self._slots()
            content = self.slot_state.content(target)
            if content is None or not bootable(SLOTS[target], self.card):
                raise ReleaseRefused(
                    "There is no whole system in the other slot.",
                    shown=ShownAs.of("page-wrong-nothing-before"),
                )
            if not downgrade:
                self.store.security().check(content.version, system=True)
                content.verify(self.signers)
            self._try(target, content.version, wait_s)
            return content.version

    def settle_trial(self) -> str:
        """Settle a trial after a boot; return its result in a sentence, "" if there was none.

        Raises HealthCheckFailed for a system that failed its health check, StorageError for a card
        that could not be read or written. A failed trial also reboots the machine to the old slot.
        """
        running = runs_from(self.machine.slot())
        with self.slot_state.locked():
            trial = self.slot_state.trial()
            if trial is None:
                self.slot_state.drop_trial()  # an unreadable file would block all installations
                self._mark_proved(running)
                return ""
            if trial.slot != running:
                return self._end_unfinished(trial)
            if self.default() == running:  # interrupted between the commit and its note
                self._mark_proved(running)
                self.slot_state.end_trial(SlotTrialResult(trial.version))
                return f"{trial.version} was kept."
            try:
                why = self._watch(trial)
                if why and not self._is_kept_unwell(trial):
                    raise HealthCheckFailed(
                        f"The system {trial.version} failed its health check: {why}.",
                        shown=ShownAs.of(
                            "page-wrong-system-unwell", version=trial.version, why=why
                        ),
                    )
                self._commit(running)
            except InterludeError as error:
                # trial.json stays until the old system runs: this one must not be taken for kept.
                self.slot_state.note(SlotTrialResult.of_error(trial.version, error))
                self.machine.reboot(trial=False)
                raise
            self._mark_proved(running)
            if why:
                return self._end_kept_unwell(trial.version, why)
            self.slot_state.end_trial(SlotTrialResult(trial.version))
            return f"The system {trial.version} passed its health check, and is kept."

    def default(self) -> SlotName:
        """The slot that starts after a power cut. Raises StorageError."""
        with self.card.part(CONFIG) as config:
            text = FatFileSystem(config).read(AUTOBOOT)
        if text is None:
            raise StorageError(f"There is no {AUTOBOOT} on this card.", "See docs/rescue.md.")
        return starts(text.decode("ascii", errors="replace"))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the locks of systems and releases: a reboot during the trial of a release would end
        it without a result. Raises InstallDeferred."""
        with self.slot_state.locked(), self.store.locked():
            yield

    def _slots(self) -> tuple[SlotName, SlotName]:
        """The slot that runs and the one to be written. Raises InstallDeferred during a trial."""
        running = runs_from(self.machine.slot())
        if self.default() != running:
            problem = "This system is on trial, or runs in place of one that cannot be used."
            raise InstallDeferred(
                problem,
                "Wait for the trial to end, or restart the machine.",
                shown=ShownAs.of("page-wrong-system-on-trial"),
            )
        return running, other(running)

    def _floor(self, options: InstallOptions) -> str | None:
        """The version that runs, the oldest that may be installed. Raises StorageError if it is
        unknown, unless a downgrade is allowed."""
        now = self.machine.version()
        if now is None and not options.downgrade:
            problem = "The version of the running system is unknown."
            raise StorageError(problem, "To replace it all the same: --downgrade.")
        return now

    def _check_same(self, running: SlotName, content: SlotContent) -> bool:
        known = self.slot_state.content(running)
        if known is not None and known.system_sha256 not in ("", content.system_sha256):
            problem = f"Another {content.version} runs already, with other files."
            raise ReleaseRefused(
                problem,
                "A version is given once: make a new one.",
                shown=ShownAs.of("page-wrong-other-files", version=content.version),
            )
        return False

    def _write(self, archive: SystemArchive, target: SlotName, content: SlotContent) -> None:
        self.slot_state.unmark(target)
        try:
            write_slot(
                archive, SLOTS[target], self.card, lambda share: self.progress("write", share)
            )
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"The slot could not be written ({error.strerror}).") from error
        self.slot_state.mark_complete(target, content)

    def _try(self, target: SlotName, version: str, wait_s: float) -> None:
        wait_for_quiet(self.machine, wait_s, self.progress)
        self.progress("start", 1.0)
        least, now = self.store.security().least_system, self.machine.version() or ""
        security = is_newer(least, now) and not is_newer(least, version)
        before = self.machine.read_health().status
        self.slot_state.begin_trial(SlotTrial(target, version, before, security))
        self.machine.reboot(trial=True)

    def _watch(self, trial: SlotTrial) -> str:
        """Run the health check of a trial. Returns "" for a healthy box, else what is wrong."""
        if self.machine.version() != trial.version:
            return f"it says it is {self.machine.version()}"
        release = self.store.kept()
        if release is None:
            return "it does not find the box's releases"
        before = trial.before
        check = HealthCheck(release, before and msgspec.structs.replace(before, pid=NO_PID))
        return watch_trial(check, self.machine, lambda share: self.progress("try", share))

    def _commit(self, slot: SlotName) -> None:
        """Make `slot` the default. This writes one sector, so a power cut leaves the old file or
        the new one."""
        with self.card.part(CONFIG) as config:
            FatFileSystem(config).replace(AUTOBOOT, autoboot(slot).encode("ascii"))
        if self.default() != slot:
            raise StorageError(
                f"The card did not keep its {AUTOBOOT}.",
                "Replace the card.",
                shown=ShownAs.of("page-wrong-card-worn"),
            )

    def _is_kept_unwell(self, trial: SlotTrial) -> bool:
        """Whether the system on trial is kept although the box failed its health check on it."""
        runs = self.machine.version() == trial.version and self.store.kept() is not None
        return runs and trial.is_last

    def _end_kept_unwell(self, version: str, why: str) -> str:
        """End the last trial of a security update that failed each: any part of the box could have
        caused that. Returns the result in a sentence."""
        problem = f"The system {version} failed its health check {SECURITY_TRIES} times: {why}. "
        problem += "It is kept, because a security update requires it."
        values = {"version": version, "why": why}
        result = SlotTrialResult(version, problem, "page-wrong-system-kept-unwell", dict(values))
        self.slot_state.end_trial(result)
        return problem

    def _end_unfinished(self, trial: SlotTrial) -> str:
        """End a trial whose slot does not run: it failed or did not start. Returns the problem.

        A security update that came up, and failed its health check, is tried again."""
        result = self.slot_state.last()
        if result is not None and result.problem and trial.security and not trial.is_last:
            self.slot_state.begin_trial(msgspec.structs.replace(trial, tries=trial.tries + 1))
            self.machine.reboot(trial=True)
            return f"{result.problem} It is tried again."
        if result is None or not result.problem:
            version = trial.version
            if self.machine.supports_tryboot():
                key, problem = "page-wrong-system-not-up", f"The system {version} did not come up."
            else:
                key = "page-wrong-system-not-started"
                problem = (
                    f"The system {version} was not started: this kernel cannot ask the Pi's "
                    "firmware for a trial. docs/rescue.md tells how to start it by hand."
                )
            result = SlotTrialResult(version, problem, key, {"version": version})
        content = self.slot_state.content(trial.slot)
        if content is not None and content.proved:
            self.slot_state.mark_complete(
                trial.slot, msgspec.structs.replace(content, proved=False)
            )
        self.slot_state.end_trial(result)
        return result.problem

    def _mark_proved(self, running: SlotName) -> None:
        """Note the running system as complete and proved, also the one that came with the card, so
        that the box may return to it later."""
        version = self.machine.version()
        if version is None:
            return
        content = self.slot_state.content(running)
        if content is None or content.version != version:
            content = SlotContent(version)
        if not content.proved:
            self.slot_state.mark_complete(running, msgspec.structs.replace(content, proved=True))
