"""Updating the system: write the other slot, start it once, keep it if it proves well.

install  writes it and asks for the trial; this process ends with the machine's
settle   runs at every start: a system on trial that proves well becomes the one that starts, by
         one write of one sector; one that does not is left, by starting anew
back     the same trial, for the system that was kept before

A trial that nobody ends (a kernel that hangs, a power cut) has been one start: the firmware's flag
is gone, the watchdog resets the machine, and the old system starts.
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
from appliance.update.release.installer import InstallOptions
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

NO_PID = -1  # of the box before the trial: what runs after it is never that process


@dataclass(frozen=True)
class SystemUpdater:
    """Does it all, on one card."""

    card: PartitionedDisk
    ledger: SlotStateFile
    machine: SystemTarget
    shelf: ReleaseStore
    signers: Path = SIGNERS
    progress: Progress = unreported_progress

    def install(self, file: Path | HandedOverFile, wishes: InstallOptions | None = None) -> bool:
        """Write the system in `file` to the other slot, and start it. False: it runs already.

        With `wishes.start` off it is written and not tried: `begin_trial` does that.
        Raises ReleaseRefused, InstallDeferred, StorageError.
        """
        wishes = wishes or InstallOptions()
        runs_from(self.machine.slot())
        with self._locked(), open_handed_over(file, SYSTEM_ARCHIVE.most_bytes) as handed:
            running, target = self._slots()
            archive = SystemArchive(handed, self.signers)
            manifest = archive.manifest
            now = self._floor(wishes)
            fits(
                manifest, now, downgrade=wishes.downgrade, now_s=self.machine.clock_s(),
                back="interlude system rollback",
            )  # fmt: skip
            archive.verify(lambda share: self.progress("verify", share))
            meant = SlotContent(manifest.version, manifest.system.sha256)
            if manifest.version == now:
                return self._same(running, meant)
            if not meant.is_same(self.ledger.whole(target)):
                self._write(archive, target, meant)
            if wishes.start:
                self._try(target, meant.version, wishes.wait_s)
            return True

    def begin_trial(self, wait_s: float) -> str:
        """Start the system that lies in the other slot, once. Returns its version.

        Raises ReleaseRefused if there is none, InstallDeferred in a conversation.
        """
        runs_from(self.machine.slot())
        with self._locked():
            _, target = self._slots()
            there = self.ledger.whole(target)
            if there is None or not bootable(SLOTS[target], self.card):
                raise ReleaseRefused(
                    "There is no whole system in the other slot.",
                    shown=ShownAs.of("page-wrong-nothing-before"),
                )
            self._try(target, there.version, wait_s)
            return there.version

    def settle_trial(self) -> str:
        """After a start: what came of a trial, in a sentence; "" when there was none.

        Raises HealthCheckFailed for a system that did not prove well, StorageError for a card that
        could not be read or written; the machine starts anew then, from the old slot.
        """
        running = runs_from(self.machine.slot())
        with self.ledger.locked():
            trial = self.ledger.trial()
            if trial is None:
                self.ledger.drop_trial()  # one that cannot be read would be in the way for ever
                self._note(running)
                return ""
            if trial.slot != running:
                return self._ended(trial)
            if self.default() == running:  # cut short between the commit and its note
                self._note(running)
                self.ledger.end_trial(SlotTrialResult(trial.version))
                return f"{trial.version} was kept."
            try:
                if why := self._watch(trial):
                    raise HealthCheckFailed(
                        f"The system {trial.version} failed its health check: {why}.",
                        shown=ShownAs.of(
                            "page-wrong-system-unwell", version=trial.version, why=why
                        ),
                    )
                self._commit(running)
            except InterludeError as error:
                # The trial goes on until the old system runs: so nobody takes this one for kept.
                self.ledger.note(SlotTrialResult.of_error(trial.version, error))
                self.machine.reboot(trial=False)
                raise
            self._note(running)
            self.ledger.end_trial(SlotTrialResult(trial.version))
            return f"The system {trial.version} proved well, and is kept."

    def default(self) -> SlotName:
        """The slot that starts after a power cut. Raises StorageError."""
        with self.card.part(CONFIG) as config:
            said = FatFileSystem(config).read(AUTOBOOT)
        if said is None:
            raise StorageError(f"There is no {AUTOBOOT} on this card.", "See docs/rescue.md.")
        return starts(said.decode("ascii", errors="replace"))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """No other installation is under way, of a release neither: its trial would end without a
        word when the machine starts anew. Raises InstallDeferred."""
        with self.ledger.locked(), self.shelf.locked():
            yield

    def _slots(self) -> tuple[SlotName, SlotName]:
        """The slot that runs and the one that may be written. Raises InstallDeferred in a trial."""
        running = runs_from(self.machine.slot())
        if self.default() != running:
            problem = "This system is on trial, or stands in for one that cannot be used."
            raise InstallDeferred(
                problem,
                "Wait for the trial to end, or start the machine anew.",
                shown=ShownAs.of("page-wrong-system-on-trial"),
            )
        return running, other(running)

    def _floor(self, wishes: InstallOptions) -> str | None:
        """The version that runs, which nothing older may replace. Raises StorageError."""
        now = self.machine.version()
        if now is None and not wishes.downgrade:
            problem = "The system that runs does not say which it is."
            raise StorageError(problem, "If any other may replace it: --downgrade.")
        return now

    def _same(self, running: SlotName, meant: SlotContent) -> bool:
        known = self.ledger.whole(running)
        if known is not None and known.system_sha256 not in ("", meant.system_sha256):
            problem = f"Another {meant.version} runs already, with other files."
            raise ReleaseRefused(
                problem,
                "A version is given once: make a new one.",
                shown=ShownAs.of("page-wrong-other-files", version=meant.version),
            )
        return False

    def _write(self, archive: SystemArchive, target: SlotName, meant: SlotContent) -> None:
        self.ledger.unmark(target)
        try:
            write_slot(
                archive, SLOTS[target], self.card, lambda share: self.progress("write", share)
            )
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(f"The slot could not be written ({error.strerror}).") from error
        self.ledger.mark_whole(target, meant)

    def _try(self, target: SlotName, version: str, wait_s: float) -> None:
        wait_for_quiet(self.machine, wait_s, self.progress)
        self.progress("start", 1.0)
        self.ledger.begin_trial(SlotTrial(target, version, self.machine.read_health().status))
        self.machine.reboot(trial=True)

    def _watch(self, trial: SlotTrial) -> str:
        """Whether the box does as well on this system as it did before: "", or what is wrong."""
        if self.machine.version() != trial.version:
            return f"it says it is {self.machine.version()}"
        release = self.shelf.kept()
        if release is None:
            return "it does not find the box's releases"
        before = trial.before
        check = HealthCheck(release, before and msgspec.structs.replace(before, pid=NO_PID))
        return watch_trial(check, self.machine, lambda share: self.progress("try", share))

    def _commit(self, slot: SlotName) -> None:
        """From now on `slot` is what starts. One sector: the old words or the new ones."""
        with self.card.part(CONFIG) as config:
            FatFileSystem(config).replace(AUTOBOOT, autoboot(slot).encode("ascii"))
        if self.default() != slot:
            raise StorageError(
                f"The card did not keep its {AUTOBOOT}.",
                "Replace the card.",
                shown=ShownAs.of("page-wrong-card-worn"),
            )

    def _ended(self, trial: SlotTrial) -> str:
        """We run from the other slot: the trial was not finished."""
        last = self.ledger.last()
        if last is None or not last.problem:
            version = trial.version
            if self.machine.supports_tryboot():
                key, why = "page-wrong-system-not-up", f"The system {version} did not come up."
            else:
                key = "page-wrong-system-not-started"
                why = (
                    f"The system {version} was not started: this kernel cannot ask the Pi's "
                    "firmware for a trial. docs/rescue.md tells how to start it by hand."
                )
            last = SlotTrialResult(version, why, key, {"version": version})
        there = self.ledger.whole(trial.slot)
        if there is not None and there.proved:
            self.ledger.mark_whole(trial.slot, msgspec.structs.replace(there, proved=False))
        self.ledger.end_trial(last)
        return last.problem

    def _note(self, running: SlotName) -> None:
        """What runs is whole, and may be gone back to one day: also what came with the card."""
        now = self.machine.version()
        if now is None:
            return
        known = self.ledger.whole(running)
        if known is None or known.version != now:
            known = SlotContent(now)
        if not known.proved:
            self.ledger.mark_whole(running, msgspec.structs.replace(known, proved=True))
