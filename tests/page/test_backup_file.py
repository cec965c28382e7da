"""A backup file: unpacking returns what was packed, and any other archive is refused."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import struct
import zipfile
from collections.abc import Callable

import pytest

from appliance.errors import BackupRefused
from appliance.page.backup_file import (
    LIMITS,
    MOST_BYTES,
    Backup,
    BackupTimer,
    BackupTurn,
    pack,
    unpack,
)
from appliance.settings.adjusted import AdjustedSettings, AdjustedValue
from tests.memory_peak import Peak

TURN = BackupTurn("2026-11-22T10:00:00+01:00", 3, "typed", 1.5, "said", True, "m", "so")
WHOLE = Backup(
    1.8e9, "0.1.0", "Kitchen", (TURN,), (BackupTimer("eggs", 300.0, 1.8e9),),
    {"link.name": "Kitchen", "panel.brightness": 0.5},
    AdjustedSettings(volume=AdjustedValue(0.5, 0.8)), b"PK",
)  # fmt: skip


def archive(
    entries: dict[str, bytes], compress: int = zipfile.ZIP_STORED, mode: int = 0, **manifest: object
) -> bytes:
    """A zip file with a matching manifest, unless `manifest` overrides it."""
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
    default_manifest = {
        "version": 1,
        "made_s": 1.8e9,
        "made_by": "0.1.0",
        "name": "x",
        "sha256": sums,
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compress) as out:
        every = {"manifest.json": json.dumps(default_manifest | manifest).encode()} | entries
        for name, data in every.items():
            info = zipfile.ZipInfo(name)
            info.compress_type, info.external_attr = compress, mode << 16
            out.writestr(info, data)
    return made.getvalue()


def test_unpack_returns_what_was_packed() -> None:
    assert unpack(pack(WHOLE)) == WHOLE
    nothing = Backup(1.0, "0", "")
    assert unpack(pack(nothing)) == nothing


def test_a_backup_is_a_valid_zip_file_without_compression() -> None:
    with zipfile.ZipFile(io.BytesIO(pack(WHOLE))) as made:
        assert made.testzip() is None
        assert {entry.compress_type for entry in made.infolist()} == {zipfile.ZIP_STORED}


def test_a_backup_over_the_size_limit_contains_the_newest_turns() -> None:
    long = [BackupTurn("2026", n, "", 1.0, "x" * 19_000, True) for n in range(400)]
    data = pack(Backup(1.0, "0", "", tuple(long)))
    assert len(data) <= MOST_BYTES
    turns = unpack(data).turns
    assert turns is not None
    assert (turns[-1].turn, len(turns) > 250) == (399, True)


def bomb() -> bytes:
    return archive({"memory.jsonl": b"0" * (64 << 20)}, zipfile.ZIP_DEFLATED)


def lying_bomb() -> bytes:
    """A bomb whose directory claims a small, stored entry."""
    data = bytearray(bomb())
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<H", data, at + 10, 0)
    struct.pack_into("<L", data, at + 24, struct.unpack_from("<L", data, at + 20)[0])
    return bytes(data)


def crowd() -> bytes:
    """A backup whose directory claims 65,535 entries."""
    data = bytearray(pack(WHOLE))
    struct.pack_into("<2H", data, len(data) - 14, 65_535, 65_535)
    return bytes(data)


@pytest.mark.parametrize(
    "make",
    [
        bomb, lying_bomb, crowd,
        lambda: b"", lambda: b"PK", lambda: b"\0" * 1000, lambda: b"x" * (MOST_BYTES + 1),
        lambda: pack(WHOLE)[:-1], lambda: pack(WHOLE) + b"x", lambda: pack(WHOLE)[10:],
        lambda: archive({"../settings.yaml": b"{}"}),
        lambda: archive({"/etc/passwd": b"x"}),
        lambda: archive({"settings.yaml": b"{}"}),
        lambda: archive({"settings.json": b"{}"}, mode=stat.S_IFLNK | 0o777),
        lambda: archive({"settings.json": b"{}"}, mode=stat.S_IFIFO | 0o600),
        lambda: archive({"settings.json": b" " * (LIMITS["settings.json"] + 1)}),
        lambda: archive({"settings.json": b"{}"}, sha256={}),
        lambda: archive({"settings.json": b"{}"}, sha256={"settings.json": "0" * 64}),
        lambda: archive({}, sha256={"settings.json": "0" * 64}),
        lambda: archive({}, version=2), lambda: archive({}, version=0),
        lambda: archive({}, more="x"), lambda: archive({}, made_s=-1),
        lambda: archive({"settings.json": b'{"a": {"b": 1}}'}),
        lambda: archive({"settings.json": b"[" * 20_000}),
        lambda: archive({"memory.jsonl": b'{"turn": 1}'}),
        lambda: archive({"memory.jsonl": b"\xff\xfe"}),
        lambda: archive({"timers.json": b'[{"name":"x","length_s":1e9,"due_wall_s":1}]'}),
        lambda: archive({"timers.json": b'[{"name":"x","length_s":1,"due_wall_s":1e300}]'}),
        lambda: archive({"adjusted.json": b'{"volume": {"value": 7, "file": 0.5}}'}),
    ],
)  # fmt: skip
@pytest.mark.long
def test_any_other_file_is_refused_with_a_remedy(make: Callable[[], bytes]) -> None:
    with pytest.raises(BackupRefused) as caught:
        unpack(make())
    assert caught.value.remedy


def test_a_duplicate_entry_is_refused() -> None:
    data = pack(Backup(1.0, "0", ""))
    with (
        pytest.warns(UserWarning, match="Duplicate"),
        zipfile.ZipFile(made := io.BytesIO(data), "a") as out,
    ):
        out.writestr("settings.json", b'{"link.name": "x"}')
    with pytest.raises(BackupRefused):
        unpack(made.getvalue())


@pytest.mark.long
def test_a_zip_bomb_is_refused_without_being_unpacked_into_memory() -> None:
    data = bomb()
    peak = Peak()
    with pytest.raises(BackupRefused):
        unpack(data)
    assert peak.mib < 16


def test_an_archive_of_an_older_release_in_the_same_format_is_accepted() -> None:
    entry = json.dumps({
        "started": "2026", "turn": 1, "asked": "", "seconds": 1, "heard": "x", "complete": True
    })  # fmt: skip
    found = unpack(archive({"memory.jsonl": entry.encode()}, made_by="0.0.1"))
    assert found.turns is not None
    assert (found.made_by, found.turns[0].transcript, found.timers) == ("0.0.1", "", None)


@pytest.mark.parametrize("line", [b"", b"ab", b"[", b'{"turn":1}'])
def test_a_memory_of_millions_of_short_lines_takes_up_little_memory(line: bytes) -> None:
    limit = LIMITS["memory.jsonl"]
    data = archive({"memory.jsonl": (line + b"\n") * (limit // (len(line) + 1))})
    peak = Peak()
    try:
        assert unpack(data).turns == ()
    except BackupRefused:
        assert line
    assert peak.mib < 16
