"""What the box remembers: the floor rises and never falls, and a damaged record is none."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.release.disk_changes import Disk
from appliance.update.release.policy import ReleasePolicy
from appliance.update.release.security_record import NOTE, SecurityRecord, newest, read, write


def test_the_floor_rises_and_never_falls() -> None:
    record = SecurityRecord("0.2.0", "0.1.0")
    assert record.raised(ReleasePolicy()) == record
    assert record.raised(ReleasePolicy("0.1.9", "0.0.9")) == record
    assert record.raised(ReleasePolicy("0.10.0", "")) == SecurityRecord("0.10.0", "0.1.0")
    assert record.raised(ReleasePolicy("", "0.3.0")) == SecurityRecord("0.2.0", "0.3.0")
    assert SecurityRecord().raised(ReleasePolicy("0.2.0")) == SecurityRecord("0.2.0")
    assert newest("", "") == ""


def test_what_is_below_the_floor_is_refused_and_the_floor_itself_is_not() -> None:
    record = SecurityRecord("0.2.0", "0.3.0")
    record.check("0.2.0")
    record.check("0.10.0")
    record.check("0.3.0", system=True)
    SecurityRecord().check("0.0.1")
    with pytest.raises(ReleaseRefused, match=r"0\.2\.0rc1 is older than 0\.2\.0"):
        record.check("0.2.0rc1")
    with pytest.raises(ReleaseRefused, match=r"0\.2\.9 is older than 0\.3\.0"):
        record.check("0.2.9", system=True)


def test_every_user_may_read_the_record_and_an_unchanged_one_is_not_written(tmp_path: Path) -> None:
    write(tmp_path, SecurityRecord(), Disk())
    assert not (tmp_path / NOTE).exists()
    record = SecurityRecord("0.2.0", signers=3)
    write(tmp_path, record, Disk())
    assert read(tmp_path) == record
    assert stat.S_IMODE((tmp_path / NOTE).stat().st_mode) == 0o644


def test_the_record_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """A power cut must not leave half of it, which would be none."""
    write(tmp_path, SecurityRecord("0.2.0"), Disk())
    (tmp_path / "before").hardlink_to(tmp_path / NOTE)
    write(tmp_path, SecurityRecord("0.3.0"), Disk())
    assert b"0.2.0" in (tmp_path / "before").read_bytes()
    assert read(tmp_path) == SecurityRecord("0.3.0")


@pytest.mark.parametrize("harm", [b"", b"[", b"\xff", b'{"least_version": 1}', b"[" * 9999])
def test_a_damaged_record_is_none(tmp_path: Path, harm: bytes) -> None:
    (tmp_path / NOTE).write_bytes(harm)
    assert read(tmp_path) == SecurityRecord()
