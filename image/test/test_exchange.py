"""For a minute another user replaces the archive that root installs: see
tests/update/release/test_exchange.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.update.release.test_exchange import install_while_it_is_exchanged
from tests.update.release.workshop import bench

SECONDS = 60.0


@pytest.mark.timeout(300)
def test_for_a_minute_only_what_was_signed_is_kept(tmp_path: Path) -> None:
    at = bench(tmp_path)
    at.installer().install(at.shop.make("0.2.0"))
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    incoming.chmod(0o1777)
    installed, refused = install_while_it_is_exchanged(at, incoming, tmp_path, SECONDS)
    print(f"\n   {installed} installed, {refused} refused")
    assert installed > 10
    assert refused > 100
