"""The state of the slots, kept on the data partition, so that it survives the rewrite of a slot.

/opt/interlude/system/slot-a.json, slot-b.json  the complete system in a slot; written after it
/opt/interlude/system/trial.json                the system whose trial is requested or under way
/opt/interlude/system/last.json                 result of the last trial, written before the trial
                                                is removed, so that a power cut does not lose it
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
from appliance.update import install_lock, signature
from appliance.update.release.disk_changes import Disk
from appliance.update.release.installer import SECURITY_TRIES
from appliance.update.release.store import ROOT, SYSTEM, SYSTEM_TRIAL
from appliance.update.system.archive import SystemArchive
from appliance.update.system.slot import SlotName, other

FOLDER = ROOT / SYSTEM


class SlotContent(msgspec.Struct, frozen=True):
    """The system in a slot.

    system_sha256         of its root; "" for one that came with the card
    proved                it has passed a trial, or was started without one
    manifest, signatures  of its archive, for another verification before a return to it; "" for one
                          that came with the card, or was written by an earlier version
    """

    version: str
    system_sha256: str = ""
    proved: bool = False
    manifest: str = ""
    signatures: str = ""

    @classmethod
    def of_archive(cls, archive: SystemArchive) -> SlotContent:
        manifest = archive.manifest
        return cls(
            manifest.version,
            manifest.system.sha256,
            manifest=archive.manifest_bytes.decode(),
            signatures=archive.signatures.decode("ascii", errors="replace"),
        )

    def is_same(self, content: SlotContent | None) -> bool:
        """Whether `content` is the same system."""
        return content is not None and (content.version, content.system_sha256) == (
            self.version,
            self.system_sha256,
        )

    def verify(self, signers: Path) -> None:
        """Raise ReleaseRefused if its key is no longer trusted. One without kept signatures
        passes."""
        if self.signatures:
            signature.verify(self.manifest.encode(), self.signatures.encode(), signers)


class SlotTrial(msgspec.Struct, frozen=True):
    """A trial of `slot`.

    before    status of the box before it, for the health check
    security  a security update requires this system, and the one that runs is older
    tries     how often it has been tried, this trial included
    """

    slot: SlotName
    version: str
    before: SupervisorStatus | None = None
    security: bool = False
    tries: int = 1

    @property
    def is_last(self) -> bool:
        """Whether the system is kept after this trial, even if it fails its health check."""
        return self.security and self.tries >= SECURITY_TRIES


class SlotTrialResult(msgspec.Struct, frozen=True):
    """Result of a trial. `problem`: "" if the system was kept. `key`, `values`: the problem as a
    sentence of the catalogue (errors.ShownAs); "" if there is none."""

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
    """Reads and writes the state files; each write is atomic."""

    folder: Path = FOLDER
    disk: Disk = field(default_factory=Disk)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the lock that allows one change of the slots at a time. Raises InstallDeferred."""
        self.disk.make_folder(self.folder)
        return install_lock.locked(self.folder / ".lock")

    def content(self, slot: SlotName) -> SlotContent | None:
        """The system in `slot`; None if none is complete there."""
        return read_record(self.folder / f"slot-{slot}.json", SlotContent)

    def trial(self) -> SlotTrial | None:
        return read_record(self.folder / SYSTEM_TRIAL, SlotTrial)

    def last(self) -> SlotTrialResult | None:
        return read_record(self.folder / "last.json", SlotTrialResult)

    def way_back(self, running: SlotName, abandoned: str) -> str | None:
        """The version of the system in the other slot, if the box may return to it: it is complete
        and proved, and is not the version that the fallback `abandoned`."""
        there = self.content(other(running))
        return there.version if there and there.proved and there.version != abandoned else None

    def mark_complete(self, slot: SlotName, content: SlotContent) -> None:
        self._write(f"slot-{slot}.json", content)

    def unmark(self, slot: SlotName) -> None:
        self.disk.remove(self.folder / f"slot-{slot}.json")

    def begin_trial(self, trial: SlotTrial) -> None:
        self.disk.remove(self.folder / "last.json")
        self._write(SYSTEM_TRIAL, trial)

    def note(self, last: SlotTrialResult) -> None:
        """Write the result of a trial that has not ended yet."""
        self._write("last.json", last)

    def end_trial(self, last: SlotTrialResult) -> None:
        self.note(last)
        self.disk.remove(self.folder / SYSTEM_TRIAL)

    def drop_trial(self) -> None:
        """Remove a trial's file that cannot be read; does nothing if there is none."""
        if os.path.lexists(self.folder / SYSTEM_TRIAL):
            self.disk.remove(self.folder / SYSTEM_TRIAL)

    def _write(self, name: str, record: msgspec.Struct) -> None:
        temporary = self.folder / f".{name}.new"
        self.disk.write(temporary, msgspec.json.encode(record))
        self.disk.sync(self.folder)
        self.disk.rename(temporary, self.folder / name)
