"""Writes and reads the backup: one archive without secrets. Everything in it is validated.

A ZIP archive of a few uncompressed entries, with a manifest of their SHA-256. Each entry has a
fixed name, a size limit and a schema; turns, timers and settings are decoded and encoded again.
Nothing is unpacked into files, so paths, links and decompression bombs in an archive have no
effect.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
from typing import Annotated, Literal, TypeVar

import msgspec

from appliance.errors import BackupRefused, ShownAs
from appliance.messages.limits import MAX_ANSWER, MAX_WORDS
from appliance.record_file import UNREADABLE
from appliance.settings.adjusted import AdjustedSettings

MOST_BYTES = 6 << 20  # of an archive
MANIFEST = "manifest.json"
LIMITS = {
    MANIFEST: 16_384, "settings.json": 32_768, "memory.jsonl": 5 << 20, "timers.json": 65_536,
    "adjusted.json": 16_384, "enrolled.npz": 65_536,
}  # fmt: skip
_END = struct.Struct("<4s4H2LH")  # end of central directory (PKWARE APPNOTE 4.3.16)
_CENTRAL_BYTES = 4096  # largest central directory for the few entries
REMEDY = "Choose an archive that this page has made."

T = TypeVar("T")
Text = Annotated[str, msgspec.Meta(max_length=4 * MAX_WORDS)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=4e9)]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class BackupTurn(_Entry, frozen=True):
    """A turn of the memory, like RememberedTurn (dialog/memory.py)."""

    started: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    turn: Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
    asked: Text
    seconds: Seconds
    heard: Annotated[str, msgspec.Meta(max_length=2 * MAX_ANSWER)]
    complete: bool
    model: Annotated[str, msgspec.Meta(max_length=500)] = ""
    transcript: Text = ""


class BackupTimer(_Entry, frozen=True):
    """A timer, like Timer (tools/timers.py); due by the wall clock."""

    name: Annotated[str, msgspec.Meta(max_length=100)]
    length_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)]
    due_wall_s: Seconds


class BackupManifest(_Entry, frozen=True):
    """`version`: of the format. `made_by`: version of Interlude. `sha256`: of each entry."""

    version: int
    made_s: Seconds
    made_by: Annotated[str, msgspec.Meta(max_length=40)]
    name: Annotated[str, msgspec.Meta(max_length=200)]
    sha256: dict[str, Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]]


Value = bool | int | float | Annotated[str, msgspec.Meta(max_length=253)]
Timers = Annotated[tuple[BackupTimer, ...], msgspec.Meta(max_length=32)]


class Backup(_Entry, frozen=True):
    """Content of an archive. None or empty: the archive does not have that part."""

    made_s: float
    made_by: str
    name: str
    turns: tuple[BackupTurn, ...] | None = None
    timers: Timers | None = None
    settings: dict[str, Value] = {}
    adjusted: AdjustedSettings | None = None
    enrolled: bytes | None = None


VERSION: Literal[1] = 1


def pack(backup: Backup) -> bytes:
    """Encode the archive. If there are too many turns, only the newest are included."""
    entries = {"settings.json": msgspec.json.encode(backup.settings)}
    if backup.turns is not None:
        entries["memory.jsonl"] = _newest(backup.turns)
    if backup.timers is not None:
        entries["timers.json"] = msgspec.json.encode(backup.timers)
    if backup.adjusted is not None:
        entries["adjusted.json"] = msgspec.json.encode(backup.adjusted)
    if backup.enrolled is not None:
        entries["enrolled.npz"] = backup.enrolled
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
    manifest = BackupManifest(VERSION, backup.made_s, backup.made_by, backup.name, sums)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {MANIFEST: msgspec.json.encode(manifest), **entries}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return made.getvalue()


def unpack(data: bytes) -> Backup:
    """Validate and decode an archive. Raises BackupRefused."""
    entries = _entries(data)
    manifest = _decoded(entries.pop(MANIFEST, b""), BackupManifest, MANIFEST)
    if manifest.version != VERSION:
        remedy = "Install that version of Interlude, or a newer one, first."
        shown = ShownAs.of("page-wrong-backup-version")
        problem = "This backup is of another version of Interlude."
        raise BackupRefused(problem, remedy, shown=shown)
    sums = {name: hashlib.sha256(entry).hexdigest() for name, entry in entries.items()}
    if sums != manifest.sha256:
        problem = "This backup is damaged: its checksums do not match."
        raise BackupRefused(problem, REMEDY, shown=ShownAs.of("page-wrong-backup-damaged"))
    # One line at a time: a list of all would take up 20 times the memory of the shortest ones.
    lines = io.BytesIO(entries["memory.jsonl"]) if "memory.jsonl" in entries else None
    return Backup(
        manifest.made_s,
        manifest.made_by,
        manifest.name,
        None if lines is None else tuple(
            _decoded(line, BackupTurn, "memory.jsonl") for line in lines if line.strip()
        ),
        _decoded(entries["timers.json"], Timers, "timers.json")
        if "timers.json" in entries else None,
        _decoded(entries["settings.json"], dict[str, Value], "settings.json")
        if "settings.json" in entries else {},
        _decoded(entries["adjusted.json"], AdjustedSettings, "adjusted.json")
        if "adjusted.json" in entries else None,
        entries.get("enrolled.npz"),
    )  # fmt: skip


def _newest(turns: tuple[BackupTurn, ...]) -> bytes:
    lines: list[bytes] = []
    size = 0
    for turn in reversed(turns):
        line = msgspec.json.encode(turn)
        size += len(line) + 1
        if size > LIMITS["memory.jsonl"]:
            break
        lines.append(line)
    return b"\n".join(reversed(lines))


def _entries(data: bytes) -> dict[str, bytes]:
    """Read the entries by name. The size and count of the central directory are checked before it
    is parsed, since it may claim a million entries."""
    shown = ShownAs.of("page-wrong-backup-none")
    refused = BackupRefused("This file is not a backup of Interlude.", REMEDY, shown=shown)
    if not _END.size <= len(data) <= MOST_BYTES:
        raise refused
    end = _END.unpack(data[-_END.size :])
    signature, disk, first_disk, disk_count, count, size, offset, comment = end
    sizes_match = offset + size + _END.size == len(data) and size <= _CENTRAL_BYTES
    if signature != b"PK\5\6" or disk or first_disk or comment or disk_count != count:
        raise refused
    if not sizes_match:
        raise refused
    if not 0 < count <= len(LIMITS):
        raise refused
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found: dict[str, bytes] = {}
            for entry in archive.infolist():
                stored = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & 1
                expected = entry.filename in LIMITS and entry.filename not in found
                fits = entry.file_size == entry.compress_size <= LIMITS.get(entry.filename, 0)
                if not (stored and expected and fits) or entry.extra or _is_special(entry):
                    raise refused
                found[entry.filename] = archive.read(entry)
            return found
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError) as error:
        raise refused from error


def _is_special(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is a link, a folder or anything but a regular file by its Unix mode."""
    kind = entry.external_attr >> 28  # the four highest bits of st_mode
    return kind not in (0, 8) or entry.is_dir()


def _decoded(data: bytes, kind: type[T], name: str) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE as error:
        problem = f"This backup is damaged: {name} cannot be read."
        shown = ShownAs.of("page-wrong-backup-damaged")
        raise BackupRefused(problem, REMEDY, shown=shown) from error
