"""The article's recipe without a clock: it stops late and drops its answer."""

from __future__ import annotations

import numpy as np

from appliance.pcm import RATE_HZ, Samples
from lab.bench.article_device import CARD_FRAMES, ArticleDevice
from lab.bench.simulated_room import EchoSimulator, RoomSession
from lab.sim.synthetic_phrases import Phrase, spoken

MS = RATE_HZ // 1000
SILENCE = np.zeros(RATE_HZ, np.int16)


def played(article: ArticleDevice, seconds: float, sound: Samples | None = None) -> RoomSession:
    session = RoomSession(
        article, EchoSimulator(np.zeros(0, np.float32)), SILENCE, round(seconds * RATE_HZ)
    )
    if sound is not None:
        session.add_sound(RATE_HZ, sound.astype(np.float32))
    while not session.ended:
        session.advance()
    return session


def tone(seconds: float) -> Samples:
    samples: Samples = (3000 + np.arange(round(seconds * RATE_HZ)) % 5000).astype(np.int16)
    return samples


def test_without_disturbance_the_answer_is_played_and_repeated_after_a_second() -> None:
    session = played(ArticleDevice(tone(1.0)), 4.0)
    assert np.array_equal(session.played[:RATE_HZ], tone(1.0))
    assert not session.played[RATE_HZ : RATE_HZ + 900 * MS].any()
    assert session.played[round(2.3 * RATE_HZ) : 3 * RATE_HZ].any()
    assert session.machine.yields == []


def test_a_word_drops_the_answer_after_the_samples_queued_on_the_card() -> None:
    clip = spoken(Phrase("interruption", "stop it please", "en-us", 150, 50))
    article = ArticleDevice(tone(20.0))
    session = played(article, 4.0, clip.at(-20.0))
    assert len(article.yields) == 1
    stop = article.stops[0]
    assert article.yields[0] <= stop <= article.yields[0] + CARD_FRAMES + 5 * MS
    assert session.played[stop - 10 * MS : stop].any()
    assert not session.played[stop : stop + 100 * MS].any()
    assert stop - (RATE_HZ + clip.onset) > 50 * MS


def test_silence_drops_nothing() -> None:
    article = ArticleDevice(tone(20.0))
    played(article, 2.0)
    assert article.stops == article.yields == []
