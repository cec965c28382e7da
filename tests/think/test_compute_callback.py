"""Looking on while a graph is computed: how often, and when it ends."""

from __future__ import annotations

from collections.abc import Callable

from appliance.think.compute_callback import ComputeCallback


def computed(watch: ComputeCallback, operations: int) -> int:
    """How many operations are computed, as ggml_backend_sched_compute_splits goes about it."""
    watch.start_graph()
    done = 0
    while done < operations:
        last = done
        while not (need := watch(None, True, None)) and last < operations - 1:
            last += 1
        done = last + 1
        if need and not watch(None, False, None):
            break
    return done


def wish(after_looks: int) -> Callable[[], bool]:
    """Wanted for so many looks, and no more."""
    left = [after_looks]

    def wanted_no_more() -> bool:
        left[0] -= 1
        return left[0] < 0

    return wanted_no_more


def test_what_is_wanted_is_computed_to_its_end_with_a_look_a_stride() -> None:
    watch = ComputeCallback(lambda: False, stride=8)
    assert computed(watch, 100) == 100
    assert (watch.steps, watch.stopped) == (12, False)


def test_what_is_wanted_no_more_ends_at_the_next_look() -> None:
    watch = ComputeCallback(wish(3), stride=8)
    assert computed(watch, 100) == 32
    assert (watch.steps, watch.stopped) == (4, True)


def test_the_graph_after_one_that_was_ended_is_not_taken_for_ended() -> None:
    watch = ComputeCallback(wish(0), stride=8)
    computed(watch, 100)
    computed(watch, 3)  # too short for a look
    assert not watch.stopped
