"""The noise floor falls at once, rises slowly, and is not fooled by speech or digital silence."""

from __future__ import annotations

from appliance.hear.onset.noise_floor import LOWEST_DB, NoiseFloor


def fed(floor: NoiseFloor, db: float, blocks: int, *, frozen: bool = False) -> float:
    for _ in range(blocks):
        floor.update(db, frozen)
    return floor.db


def test_a_new_steady_noise_is_learned_within_two_seconds() -> None:
    floor = NoiseFloor()
    fed(floor, -65, 200)
    assert fed(floor, -45, 200) < -60
    assert -46 < fed(floor, -45, 200) < -43


def test_the_floor_falls_within_a_tenth_of_a_second_when_the_noise_ends() -> None:
    floor = NoiseFloor()
    fed(floor, -45, 500)
    assert fed(floor, -65, 20) < -62


def test_speech_does_not_raise_the_floor_however_long() -> None:
    floor = NoiseFloor()
    fed(floor, -62, 500)
    assert fed(floor, -25, 4000, frozen=True) < -60


def test_digital_silence_does_not_change_the_floor() -> None:
    floor = NoiseFloor()
    before = fed(floor, -45, 500)
    assert fed(floor, -100, 2000) == before


def test_the_floor_has_a_lower_limit() -> None:
    assert fed(NoiseFloor(), -90, 1000) == LOWEST_DB


def test_accepted_noise_raises_the_floor_at_once_and_never_lowers_it() -> None:
    floor = NoiseFloor()
    fed(floor, -65, 10)
    floor.accept_noise(-40)
    assert floor.db == -40
    floor.accept_noise(-60)
    assert floor.db == -40


def test_the_floor_starts_at_the_first_level() -> None:
    assert fed(NoiseFloor(), -45, 1) == -45


def test_a_muted_start_leaves_the_floor_at_its_lower_limit() -> None:
    floor = NoiseFloor()
    fed(floor, -100, 10)
    assert fed(floor, -30, 1) == LOWEST_DB
