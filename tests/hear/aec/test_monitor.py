"""The canceller's keeper: begins where it ended, and says what the owner should know, once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.hear.aec import store
from appliance.hear.aec.factory import EchoCanceller, PassThroughCanceller
from appliance.hear.aec.kalman import KalmanCanceller
from appliance.hear.aec.monitor import BLOCKS_A_SECOND, EchoMonitor
from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ, to_int16
from tests.hear.aec.test_kalman import Wave, answer, echo_of, room, taken_db


def kalman(*, may_rest: bool = False) -> KalmanCanceller:
    return KalmanCanceller(tail_ms=200, frames=80, rate_hz=RATE_HZ, may_rest=may_rest)


def hear(canceller: EchoCanceller, watch: EchoMonitor, mic: Wave, seconds: int) -> Wave:
    heard = to_int16(mic)
    played = answer(seconds)
    left = []
    for at in range(0, len(played), 80):
        left.append(canceller.cancel_echo(heard[at : at + 80], played[at : at + 80]))
        watch.on_frame()
    return np.concatenate(left).astype(float)


@pytest.mark.long
def test_after_a_restart_the_first_second_is_as_good_as_the_last(tmp_path: Path) -> None:
    mic = echo_of(answer(6), room(1))
    for first_db in (15.0, 20.0):  # cold: the first two seconds are worse
        canceller = kalman()
        watch = EchoMonitor(canceller, tmp_path, lambda: "card")
        watch.restore()
        left = hear(canceller, watch, mic, 6)
        watch.close()
        assert taken_db(mic, left, 2, 6) > 20
        good = taken_db(mic, left, 0, 1) > first_db
        assert good == (first_db == 20.0)
    assert (tmp_path / store.FILE).is_file()
    assert watch.pop_log_lines() == []


def test_a_damaged_file_is_said_once_and_does_not_stop_it(tmp_path: Path) -> None:
    (tmp_path / store.FILE).write_bytes(b"no archive")
    canceller = kalman()
    watch = EchoMonitor(canceller, tmp_path, lambda: "card")
    watch.restore()
    (said,) = watch.pop_log_lines()
    assert "damaged" in said
    assert watch.pop_log_lines() == []


@pytest.mark.long
def test_a_moved_box_is_said_once(tmp_path: Path) -> None:
    played = answer(10)
    mic = echo_of(played, room(3))
    mic[6 * RATE_HZ :] = echo_of(played, room(4))[6 * RATE_HZ :]
    canceller = kalman()
    watch = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, watch, mic, 10)
    assert [said for said in watch.pop_log_lines() if "moved" in said] != []
    watch.close()


class Wandering(KalmanCanceller):
    """A canceller that has settled on an echo which comes later, or not, with every second."""

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


@pytest.mark.parametrize(("ppm", "said"), [(-50.0, 1), (0.0, 0)])
def test_two_clocks_are_said_once_and_one_clock_never(
    tmp_path: Path, ppm: float, said: int
) -> None:
    canceller = Wandering(ppm)
    watch = EchoMonitor(canceller, tmp_path, lambda: "card")
    news = []
    for canceller.seconds in range(1, 121):
        for _ in range(BLOCKS_A_SECOND):
            watch.on_frame()
        news += watch.pop_log_lines()
    watch.close()
    assert len([one for one in news if "two clocks, 50 ppm apart" in one]) == said
    assert len(news) == said


@pytest.mark.long
def test_a_card_that_cancels_by_itself_is_found_out_and_left_alone(tmp_path: Path) -> None:
    mic = np.random.default_rng(0).normal(0, 10, 8 * RATE_HZ)
    canceller = kalman(may_rest=True)
    watch = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, watch, mic, 8)
    (said,) = watch.pop_log_lines()
    assert "by itself" in said
    assert canceller.resting
    watch.close()
    assert not (tmp_path / store.FILE).exists()


@pytest.mark.long
def test_a_response_that_takes_nothing_away_is_not_kept(tmp_path: Path) -> None:
    mic = np.random.default_rng(0).normal(0, 1000, 12 * RATE_HZ)  # a fan, and no echo
    canceller = kalman()
    watch = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, watch, mic, 12)
    assert canceller.converged
    watch.close()
    assert not (tmp_path / store.FILE).exists()


@pytest.mark.long
def test_a_soft_echo_is_no_card_that_cancels(tmp_path: Path) -> None:
    mic = echo_of(answer(8), room(1, gain=0.03)) + np.random.default_rng(0).normal(
        0, 10, 8 * RATE_HZ
    )
    canceller = kalman(may_rest=True)
    watch = EchoMonitor(canceller, tmp_path, lambda: "card")
    hear(canceller, watch, mic, 8)
    assert not canceller.resting
    watch.close()


def test_without_a_canceller_of_ours_there_is_nothing_to_keep(tmp_path: Path) -> None:
    watch = EchoMonitor(PassThroughCanceller(), tmp_path, lambda: "card")
    watch.restore()
    watch.on_frame()
    watch.close()
    assert list(tmp_path.iterdir()) == []
