"""Manifests of voice programs: invalid ones, and programs that this box cannot run."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import msgspec
import pytest

from appliance.errors import ReleaseRefused
from appliance.voice.engine.manifest import NAME, EngineManifest, parse, read, unfit
from appliance.voice.protocol import PROTOCOL

GOOD = EngineManifest(
    version="1.2.3", machine="any", python="any", made_s=1, tree_sha256="0" * 64, tree_bytes=1,
    files_bytes=1, engine="piper", protocol=PROTOCOL, licence="GPL-3.0", voices=("amy", "joe"),
)  # fmt: skip


def test_a_manifest_survives_encoding_and_parsing() -> None:
    assert parse(GOOD.encode()) == GOOD


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"piper"', b'"../piper"'), (b'"piper"', b'""'), (b'"amy"', b'"a/b"'),
        (b'"1.2.3"', b'"1"'), (b"GPL-3.0", b"x" * 101), (b"}", b',"more": 1}'), (b"{", b"["),
    ],
)  # fmt: skip
def test_an_invalid_manifest_is_refused(old: bytes, new: bytes) -> None:
    assert old in GOOD.encode()
    with pytest.raises(ReleaseRefused):
        parse(GOOD.encode().replace(old, new))


def test_a_folder_without_a_complete_manifest_is_not_a_program(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    (tmp_path / NAME).write_bytes(GOOD.encode()[:-5])
    assert read(tmp_path) is None
    (tmp_path / NAME).write_bytes(GOOD.encode())
    assert read(tmp_path) == GOOD


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, ""),
        ({"machine": platform.machine()}, ""),
        ({"python": f"{sys.version_info.major}.{sys.version_info.minor}"}, ""),
        ({"machine": "pdp11"}, f"made for pdp11; this box is {platform.machine()}"),
        ({"python": "2.7"}, "made for Python 2.7"),
        ({"protocol": PROTOCOL + 1}, f"this box knows {PROTOCOL}"),
    ],
)
def test_the_reason_why_a_program_cannot_run_is_a_sentence(
    changes: dict[str, object], message: str
) -> None:
    found = unfit(msgspec.structs.replace(GOOD, **changes))
    assert message in found
    assert bool(found) == bool(message)
