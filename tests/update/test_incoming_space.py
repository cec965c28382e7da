"""A release needs its own size and the spare space; the missing space is reported in MiB."""

from __future__ import annotations

import pytest

from appliance.errors import ShownAs, StorageError
from appliance.runtime.free_space import SPARE_BYTES
from appliance.update.incoming_space import check_space


def test_a_file_that_fits_beside_the_spare_space_is_accepted() -> None:
    check_space(1000, SPARE_BYTES + 1000)


@pytest.mark.parametrize(("short_bytes", "mib"), [(1, 1), (1 << 20, 1), ((1 << 20) + 1, 2)])
def test_missing_space_is_rounded_up_to_mib(short_bytes: int, mib: int) -> None:
    with pytest.raises(StorageError, match=f": {mib} MiB are missing") as raised:
        check_space(1000, SPARE_BYTES + 1000 - short_bytes)
    assert raised.value.on_page == ShownAs.of("page-wrong-look-room", mib=mib)
