"""Valid and invalid manifests of systems."""

from __future__ import annotations

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.archive_parts import MOST_MANIFEST_BYTES
from appliance.update.system.manifest import PartitionContent, SystemManifest, parse

GOOD = SystemManifest(
    version="1.2.3", machine="aarch64", made_s=1_780_000_000,
    boot=PartitionContent(4096, "0" * 64), system=PartitionContent(7, "a" * 64),
)  # fmt: skip


def test_a_manifest_is_read_as_it_was_written_and_fits_any_python() -> None:
    assert parse(GOOD.encode()) == GOOD
    assert len(GOOD.encode()) < MOST_MANIFEST_BYTES
    assert parse(GOOD.encode()).python == "any"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"1.2.3"', b'"../../etc"'), (b"4096", b"0"), (b"4096", b"-1"), (b"4096", b'"4096"'),
        (b'"0000', b'"00zz'), (b'"0000', b'"0'), (b'"boot"', b'"root"'), (b"}", b',"more": 1}'),
        (b"{", b"["), (b'"aarch64"', b'"\xff"'),
    ],
)  # fmt: skip
def test_an_invalid_manifest_is_refused(old: bytes, new: bytes) -> None:
    assert old in GOOD.encode()
    with pytest.raises(ReleaseRefused):
        parse(GOOD.encode().replace(old, new))
