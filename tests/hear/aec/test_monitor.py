"""The echo monitor saves and restores the response and logs each problem once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.background_file import write_private
from appliance.hear.aec import store
from appliance.hear.aec.factory import EchoCanceller, PassThroughCanceller
from appliance.hear.aec.kalman import KalmanCanceller
from appliance.hear.aec.monitor import BLOCKS_A_SECOND, EchoMonitor
from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ, to_int16
from tests.hear.aec.test_kalman import Wave, answer, echo_of, room, taken_db


def kalman(*, may_rest: bool = False) -> KalmanCanceller:
    return KalmanCanceller(tail_ms=200, frames=80, rate_hz=RATE_HZ, may_rest=may_rest)


def hear(canceller: EchoCanceller, echo_monitor: EchoMonitor, mic: Wave, seconds: int) -> Wave:
    heard = to_int16(mic)
    played = answer(seconds)
    left = []
    for at in range(0, len(played), 80):
        left.append(canceller.cancel_echo(heard[at : at + 80], played[at : at + 80]))
        echo_monitor.on_frame()
    return np.concatenate(left).astype(float)


@pytest.mark.long
def test_after_a_restart_the_first_second_cancels_as_well_as_the_last(tmp_path: Path) -> None:
    mic = echo_of(answer(6), room(1))
    for first_db in (15.0, 20.0):  # cold: the first two seconds are worse
        canceller = kalman()
        echo_monitor = EchoMonitor(canceller, tmp_path, lambda: "card")
        echo_monitor.restore()
        left = hear(canceller, echo_monitor, mic, 6)
        echo_monitor.close()
        assert taken_db(mic, left, 2, 6) > 20
        good = taken_db(mic, left, 0, 1) > first_db
        assert good == (first_db == 20.0)
    assert (tmp_path / store.FILE).is_file()
    assert echo_monitor.pop_log_lines() == []


def test_a_damaged_file_is_logged_once_and_ignored(tmp_path: Path) -> None:
    write_private(tmp_path / store.FILE, b"no archive")
    canceller = kalman()
    echo_monitor = EchoMonitor(canceller, tmp_path, lambda: "card")
    echo_monitor.restore()
    (line,) = echo_monitor.pop_log_lines()
    assert "damaged" in line
    assert echo_monitor.pop_log_lines() == []


@pytest.mark.long
def test_a_moved_box_is_logged(tmp_path: Path) -> None:
    played = answer(10)
    mic = echo_of(played, room(3))
    mic[6 * RATE_HZ :] = echo_of(played, room(4))[6 * RATE_HZ :]
    canceller = kalman()
    echo_monitor = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, echo_monitor, mic, 10)
    assert [line for line in echo_monitor.pop_log_lines() if "moved" in line] != []
    echo_monitor.close()


class DriftingCanceller(KalmanCanceller):
    """A converged canceller whose response drifts by `ppm` with every second."""

    def __init__(self, ppm: float) -> None:
        super().__init__(tail_ms=200, frames=80, rate_hz=RATE_HZ)
        self.seconds = 0
        self._ppm = ppm
        self._room = np.asarray(np.convolve(room(5)[:3000], np.hanning(5)), np.float32)

    converged = active = True

    @property
    def taps(self) -> Floats:
        late = round(-self._ppm * 1e-6 * RATE_HZ * self.seconds)
        return np.pad(np.roll(self._room, late), (0, 3200 - len(self._room)))


@pytest.mark.parametrize(("ppm", "lines"), [(-50.0, 1), (0.0, 0)])
def test_clock_skew_is_logged_once_and_a_single_clock_never(
    tmp_path: Path, ppm: float, lines: int
) -> None:
    canceller = DriftingCanceller(ppm)
    echo_monitor = EchoMonitor(canceller, tmp_path, lambda: "card")
    news = []
    for canceller.seconds in range(1, 121):
        for _ in range(BLOCKS_A_SECOND):
            echo_monitor.on_frame()
        news += echo_monitor.pop_log_lines()
    echo_monitor.close()
    assert len([line for line in news if "two clocks, 50 ppm apart" in line]) == lines
    assert len(news) == lines


@pytest.mark.long
def test_a_card_that_cancels_by_itself_is_detected_and_the_canceller_rests(tmp_path: Path) -> None:
    mic = np.random.default_rng(0).normal(0, 10, 8 * RATE_HZ)
    canceller = kalman(may_rest=True)
    echo_monitor = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, echo_monitor, mic, 8)
    (line,) = echo_monitor.pop_log_lines()
    assert "by itself" in line
    assert canceller.resting
    echo_monitor.close()
    assert not (tmp_path / store.FILE).exists()


@pytest.mark.long
def test_a_response_that_removes_nothing_is_not_saved(tmp_path: Path) -> None:
    mic = np.random.default_rng(0).normal(0, 1000, 12 * RATE_HZ)  # a fan, and no echo
    canceller = kalman()
    echo_monitor = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, echo_monitor, mic, 12)
    assert canceller.converged
    echo_monitor.close()
    assert not (tmp_path / store.FILE).exists()


@pytest.mark.long
def test_a_soft_echo_is_not_taken_for_a_card_that_cancels(tmp_path: Path) -> None:
    mic = echo_of(answer(8), room(1, gain=0.03)) + np.random.default_rng(0).normal(
        0, 10, 8 * RATE_HZ
    )
    canceller = kalman(may_rest=True)
    echo_monitor = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, echo_monitor, mic, 8)
    assert not canceller.resting
    echo_monitor.close()


def test_a_pass_through_canceller_saves_no_file(tmp_path: Path) -> None:
    echo_monitor = EchoMonitor(PassThroughCanceller(), tmp_path, lambda: "card")
    echo_monitor.restore()
    echo_monitor.on_frame()
    echo_monitor.close()
    assert list(tmp_path.iterdir()) == []
