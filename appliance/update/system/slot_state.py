"""What is known of the slots, on the data partition, where it outlives both.

/opt/interlude/system/slot-a.json, slot-b.json  what lies whole in a slot; written after all of it
/opt/interlude/system/trial.json                a system that is to be tried, or is being tried
/opt/interlude/system/last.json                 how the last trial ended, or will
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from appliance.errors import InterludeError
from appliance.record_file import read_record
from appliance.runtime.status import SupervisorStatus
from appliance.update.install_lock import locked as alone
from appliance.update.release.disk_changes import Disk
from appliance.update.release.store import ROOT, SYSTEM, SYSTEM_TRIAL
from appliance.update.system.slot import SlotName, other

FOLDER = ROOT / SYSTEM


class SlotContent(msgspec.Struct, frozen=True):
    """What a slot holds. `system_sha256`: of its root; "" for one that came with the card.
    `proved`: it was started outside of a trial, or a trial kept it."""

    version: str
    system_sha256: str = ""
    proved: bool = False

    def is_same(self, other: SlotContent | None) -> bool:
        """Whether `other` is this very system, tried or not."""
        return other is not None and msgspec.structs.replace(other, proved=self.proved) == self


class SlotTrial(msgspec.Struct, frozen=True):
    """One start of `slot`, which must do no worse than the box did `before`."""

    slot: SlotName
    version: str
    before: SupervisorStatus | None = None


class SlotTrialResult(msgspec.Struct, frozen=True):
    """`problem` is "" for a system that was kept. `key`, `values`: the same as a sentence of the
    catalogue (errors.ShownAs); "": there is none."""

    version: str
    problem: str = ""
    key: str = ""
    values: dict[str, str | int | float] = {}

    @classmethod
    def of_error(cls, version: str, error: InterludeError) -> SlotTrialResult:
        key, values = error.on_page
        return cls(version, str(error), key, dict(values))


@dataclass(frozen=True)
class SlotStateFile:
    """Reads and writes these files; each write is whole or not at all."""

    folder: Path = FOLDER
    disk: Disk = field(default_factory=Disk)

    def locked(self) -> AbstractContextManager[None]:
        """One change of the slots at a time. Raises InstallDeferred."""
        self.disk.make_folder(self.folder)
        return alone(self.folder / ".lock")

    def whole(self, slot: SlotName) -> SlotContent | None:
        return read_record(self.folder / f"slot-{slot}.json", SlotContent)

    def trial(self) -> SlotTrial | None:
        return read_record(self.folder / SYSTEM_TRIAL, SlotTrial)

    def last(self) -> SlotTrialResult | None:
        return read_record(self.folder / "last.json", SlotTrialResult)

    def way_back(self, running: SlotName, left: str) -> str | None:
        """The system in the other slot, if it may be gone back to: whole, proved, and not the one
        that was `left` since the box did not stay up on it."""
        there = self.whole(other(running))
        return there.version if there and there.proved and there.version != left else None

    def mark_whole(self, slot: SlotName, whole: SlotContent) -> None:
        self._write(f"slot-{slot}.json", whole)

    def unmark(self, slot: SlotName) -> None:
        self.disk.remove(self.folder / f"slot-{slot}.json")

    def begin_trial(self, trial: SlotTrial) -> None:
        self.disk.remove(self.folder / "last.json")
        self._write(SYSTEM_TRIAL, trial)

    def note(self, last: SlotTrialResult) -> None:
        """What the trial comes to, while it still goes on."""
        self._write("last.json", last)

    def end_trial(self, last: SlotTrialResult) -> None:
        self.note(last)
        self.disk.remove(self.folder / SYSTEM_TRIAL)

    def drop_trial(self) -> None:
        """One that cannot be read; nothing is changed where there is none."""
        if os.path.lexists(self.folder / SYSTEM_TRIAL):
            self.disk.remove(self.folder / SYSTEM_TRIAL)

    def _write(self, name: str, record: msgspec.Struct) -> None:
        fresh = self.folder / f".{name}.new"
        self.disk.write(fresh, msgspec.json.encode(record))
        self.disk.sync(self.folder)
        self.disk.rename(fresh, self.folder / name)
