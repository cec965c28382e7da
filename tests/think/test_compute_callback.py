"""ComputeCallback: how often it is called during a graph, and when it ends the graph."""

from __future__ import annotations

from collections.abc import Callable

from appliance.think.compute_callback import ComputeCallback


def computed(watch: ComputeCallback, operations: int) -> int:
    """The number of operations that ggml_backend_sched_compute_splits computes."""
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


def stop_after(after_looks: int) -> Callable[[], bool]:
    """A stop condition that is false for so many calls, then true."""
    left = [after_looks]

    def should_stop() -> bool:
        left[0] -= 1
        return left[0] < 0

    return should_stop


def test_without_a_stop_the_graph_is_computed_with_one_callback_per_stride() -> None:
    watch = ComputeCallback(lambda: False, stride=8)
    assert computed(watch, 100) == 100
    assert (watch.steps, watch.stopped) == (12, False)


def test_a_stop_ends_the_graph_at_the_next_callback() -> None:
    watch = ComputeCallback(stop_after(3), stride=8)
    assert computed(watch, 100) == 32
    assert (watch.steps, watch.stopped) == (4, True)


def test_the_flag_stopped_is_cleared_for_the_next_graph() -> None:
    watch = ComputeCallback(stop_after(0), stride=8)
    computed(watch, 100)
    computed(watch, 3)  # too short for a callback
    assert not watch.stopped
