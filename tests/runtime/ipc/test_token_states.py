"""Token states pass through the ring bit for bit, with their serials and the end of a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from appliance.errors import RingError
from appliance.runtime import process_table
from appliance.runtime.ipc import ring_handles
from appliance.runtime.ipc.ring import RingReader, RingWriter
from appliance.runtime.ipc.state_size import MOST_ROWS, MOST_WIDTH, SAMPLES
from appliance.runtime.ipc.token_states import (
    RingStates,
    token_slot,
)

RNG = np.random.default_rng(3)


@pytest.fixture
def ends() -> Iterator[tuple[RingStates, RingReader]]:
    (spec,) = (spec for spec in process_table.RINGS if spec.name == process_table.STATES)
    handles = ring_handles.create(spec)
    yield RingStates(RingWriter(handles)), RingReader(handles, "speaker")
    handles.close()


@pytest.mark.parametrize("width", [128, 1536, 2560])
def test_states_arrive_bit_for_bit(ends: tuple[RingStates, RingReader], width: int) -> None:
    write, read = ends
    sent = [RNG.normal(0, 1e5, (7, width)).astype(np.float32) for _ in range(3)]
    for number, states in enumerate(sent):
        write.store(1000 + number, 1000, states, first=number == 0)
    slots = [token_slot(slot) for slot in read.read_all()]
    assert [slot.serial for slot in slots] == [1000, 1001, 1002]
    assert [slot.first for slot in slots] == [True, False, False]
    for slot, states in zip(slots, sent, strict=True):
        assert slot.states is not None
        assert slot.states.tobytes() == states.tobytes()
        assert slot.states.shape == states.shape


def test_the_end_of_a_run_has_no_states(ends: tuple[RingStates, RingReader]) -> None:
    write, read = ends
    write.end(77, 70)
    slot = read.read()
    assert slot is not None
    assert token_slot(slot) == (77, 70, False, None)


def test_fits_refuses_a_model_whose_states_are_too_wide(
    ends: tuple[RingStates, RingReader],
) -> None:
    assert RingStates.fits(MOST_ROWS, MOST_WIDTH)
    assert not RingStates.fits(MOST_ROWS, MOST_WIDTH + 1)
    with pytest.raises(RingError, match="do not fit"):
        ends[0].store(1, 1, np.zeros((1, SAMPLES), np.float32), first=True)
