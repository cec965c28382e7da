"""Checks that a disk has room for a release or a system that is fetched or copied to it."""

from __future__ import annotations

from appliance.errors import ShownAs, StorageError
from appliance.runtime.free_space import SPARE_BYTES


def check_space(need_bytes: int, free_bytes: int) -> None:
    """Raise StorageError unless `need_bytes` fit and SPARE_BYTES stay free."""
    short_bytes = need_bytes + SPARE_BYTES - free_bytes
    if short_bytes > 0:
        mib = -(-short_bytes >> 20)
        shown = ShownAs.of("page-wrong-look-room", mib=mib)
        problem = f"There is no room for the release: {mib} MiB are missing."
        raise StorageError(problem, shown=shown)
