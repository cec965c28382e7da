"""Checks that a disk has room for a release or a system that is fetched or copied to it."""

from __future__ import annotations

from appliance.errors import ShownAs, StorageError
from appliance.runtime.free_space import lacking_bytes


def check_space(need_bytes: int, free_bytes: int) -> None:
    """Raise StorageError unless `need_bytes` fit and SPARE_BYTES stay free."""
    if short := lacking_bytes(need_bytes, free_bytes):
        mib = -(-short >> 20)
        shown = ShownAs.of("page-wrong-look-room", mib=mib)
        problem = f"There is no room for the release: {mib} MiB are missing."
        raise StorageError(problem, shown=shown)
