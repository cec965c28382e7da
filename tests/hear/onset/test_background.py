"""The background level of a room is learned, and the owner's speech does not raise it."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.onset.background import BackgroundSpeech, LevelQuantile

BLOCKS = 2000  # 10 s


def television(rng: np.random.Generator) -> float:
    """Energy of a block of a television's speech at -41 dB, or of a pause in it."""
    return float(rng.normal(-41, 5)) if rng.random() < 0.7 else -68.0


def test_the_level_is_the_requested_quantile() -> None:
    rng = np.random.default_rng(1)
    levels = LevelQuantile(0.8, 2400)
    for db in rng.uniform(-60, -40, BLOCKS):
        levels.update(float(db), followed=False)
    assert -46 <= levels.db <= -43


def test_no_level_is_known_in_the_first_moment() -> None:
    levels = LevelQuantile(0.8, 2400)
    for _ in range(50):
        levels.update(-30.0, followed=False)
    assert not levels.known


def test_a_new_level_is_learned_within_the_memory_length() -> None:
    levels = LevelQuantile(0.8, 1000)
    for db in [-60.0] * BLOCKS + [-30.0] * BLOCKS:
        levels.update(db, followed=False)
    assert -32 <= levels.db <= -29


def test_a_television_becomes_background() -> None:
    rng = np.random.default_rng(2)
    background = BackgroundSpeech()
    for _ in range(BLOCKS):
        db = television(rng)
        background.update(db, 0.9 if db > -60 else 0.1, followed=False)
    assert -36 < background.db < -26


def test_a_followed_television_becomes_background_if_the_owners_level_is_known() -> None:
    heard = []
    for owner_db in (-18.0, None):
        rng = np.random.default_rng(2)
        background = BackgroundSpeech()
        if owner_db is not None:
            background.on_utterance(owner_db)
        for _ in range(BLOCKS):
            db = min(television(rng), -33.0)
            background.update(db, 0.9 if db > -60 else 0.1, followed=db > -60)
        heard.append(background.soft)
    assert heard == [True, False]


def test_an_owner_is_not_soft_beside_a_television_even_between_syllables() -> None:
    rng = np.random.default_rng(2)
    background = BackgroundSpeech()
    background.on_utterance(-18.0)
    for _ in range(BLOCKS):
        db = min(television(rng), -33.0)
        background.update(db, 0.9 if db > -60 else 0.1, followed=False)
    soft = []
    for block in range(400):
        background.update(-22.0 if block % 60 < 30 else -60.0, 0.9, followed=True)
        soft.append(background.soft)
    assert not any(soft)


def test_without_a_television_nothing_is_too_soft() -> None:
    background = BackgroundSpeech()
    background.on_utterance(-18.0)
    for _ in range(BLOCKS):
        background.update(-60.0, 0.1, followed=False)
    assert not background.soft


def test_utterances_of_a_television_do_not_soon_become_the_owners_level() -> None:
    taken, nearer = BackgroundSpeech(), BackgroundSpeech()
    for background, peak_db in ((taken, -33.0), (nearer, -23.0)):
        background.on_utterance(-18.0)
        for _ in range(5):
            background.on_utterance(peak_db)
        for block in range(BLOCKS):
            background.update(
                -33.0 if block % 3 else -70.0, 0.9 if block % 3 else 0.1, followed=False
            )
    assert taken.soft
    taken.on_utterance(-18.0)
    nearer.on_utterance(-10.0)  # louder counts at once
    assert taken.soft
    assert nearer.soft


def until_known(background: BackgroundSpeech, spoken: int, silent: int) -> int:
    """The blocks until speech in stretches of `spoken` blocks, which starts at once, becomes
    background; BLOCKS if it does not."""
    for block in range(BLOCKS):
        speaks = block % (spoken + silent) < spoken
        background.update(-20.0 if speaks else -68.0, 0.9 if speaks else 0.1, followed=False)
        if background.db > -100:
            return block
    return BLOCKS


def test_the_first_words_after_a_restart_are_no_television() -> None:
    """An owner who calls every second from the start on, and a television."""
    assert until_known(BackgroundSpeech(again=True), 84, 120) > 200 * 8
    assert until_known(BackgroundSpeech(again=True), 400, 100) < 200 * 7


def test_a_television_that_is_on_at_a_start_is_soon_background() -> None:
    assert until_known(BackgroundSpeech(), 400, 100) < 200


def test_an_owner_who_interrupts_occasionally_does_not_become_background() -> None:
    background = BackgroundSpeech()
    for _ in range(3):
        for block in range(800):
            speaks = block < 300
            background.update(-26.0 if speaks else -68.0, 0.9 if speaks else 0.1, followed=speaks)
    assert background.db < -90


@pytest.mark.parametrize(("silence_s", "soft"), [(7.0, False), (1.0, True)])
def test_soft_speech_with_long_pauses_is_not_a_television(silence_s: float, soft: bool) -> None:
    background = BackgroundSpeech()
    background.on_utterance(-12.0)
    spoken, period = 600, 600 + round(200 * silence_s)  # blocks: three seconds, and a silence
    for block in range(2 * period):
        speaks = block % period < spoken
        background.update(-23.0 if speaks else -68.0, 0.9 if speaks else 0.1, followed=speaks)
    background.update(-23.0, 0.9, followed=False)
    assert background.soft == soft


def test_noise_without_speech_is_not_background_speech() -> None:
    background = BackgroundSpeech()
    for _ in range(BLOCKS):
        background.update(-30.0, 0.05, followed=False)
    assert background.db < -90


def test_possible_echo_is_not_a_television() -> None:
    rng = np.random.default_rng(2)
    background = BackgroundSpeech()
    for _ in range(BLOCKS):
        db = television(rng)
        background.update(db, 0.9 if db > -60 else 0.1, followed=False, own=True)
    assert background.db == -100
