"""What a head hears: bands, mixtures, the window."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from appliance.hear.bargein.murmur_network import AGES_MS
from appliance.pcm import RATE_HZ
from lab.sim import people
from lab.sim.people import Clip
from tests import skips
from tests.lab.sim.test_people import a_voice, shared
from training.murmur import bursts, features, mixture
from training.murmur.mixture import InTurn, Mixture, Origin
from training.verdict.dataset import Bursts


def a_clip(kind: str, source: str, who: str, role: str = "training") -> Clip:
    wave = people.cut(a_voice(), 4800, 11200)
    assert wave is not None
    return Clip(kind, "word", source, who, f"{source} {who}", "r", "ours", role, wave, narrow=False)  # type: ignore[arg-type]


def test_a_telephone_leaves_nothing_above_its_band() -> None:
    wave = a_voice()
    assert not people.narrow(wave)
    for seed in range(4):
        heard = mixture.telephone(wave, np.random.default_rng(seed))
        assert len(heard) == pytest.approx(len(wave), abs=2)
        power = np.abs(np.fft.rfft(heard)) ** 2
        hz = np.fft.rfftfreq(len(heard), 1 / RATE_HZ)
        assert power[hz > 4100].sum() < 1e-3 * power.sum()
        assert power[hz < 100].sum() < 1e-2 * power.sum()


def test_half_of_each_class_is_in_telephone_band() -> None:
    made = [a_clip("backchannel", "words", "a"), a_clip("interruption", "words", "b"),
            a_clip("backchannel", "murmurs", "c"), a_clip("interruption", "said", "d")]  # fmt: skip
    drawn, chance = Mixture(made), np.random.default_rng(1)
    narrow = defaultdict(list)
    for _ in range(300):
        sound = drawn.next(chance)
        narrow[sound.kind].append(Origin.of(sound.who).narrow)
    for kind in ("backchannel", "interruption", "noise"):
        assert np.mean(narrow[kind]) == pytest.approx(0.5, abs=0.2)


def test_a_mixture_of_a_role_has_no_clip_of_another() -> None:
    made = [a_clip("backchannel", "words", "a"), a_clip("backchannel", "words", "b", "held-out"),
            a_clip("interruption", "said", "c")]  # fmt: skip
    drawn, chance = Mixture(made), np.random.default_rng(2)
    groups = {Origin.of(drawn.next(chance).who).group for _ in range(100)}
    assert "words a" in groups
    assert "words b" not in groups


def test_each_clip_of_a_test_is_played_once() -> None:
    made = [a_clip("interruption", "words", str(i), "held-out") for i in range(9)]
    source = InTurn(made, "held-out", made, np.random.default_rng(3))
    drawn = [source.next(np.random.default_rng(0)) for _ in range(len(source))]
    assert len({sound.who.split("|")[0] for sound in drawn}) == 9
    assert sum(Origin.of(sound.who).narrow for sound in drawn) in {4, 5}


def test_the_window_ends_at_the_age_at_an_equal_peak() -> None:
    sound = np.full(17_600, 1000, np.int16)
    for age in AGES_MS:
        later = sound.copy()
        later[(300 + age) * 16 :] = 30_000
        heard = features.window(later, age)
        assert (heard == features.window(sound, age)).all()
        assert len(heard) == (140 + age + 60) * 16
        assert np.abs(heard).max() == pytest.approx(0.5)
        assert not heard[-60 * 16 :].any()
        assert features.mel(sound, age).shape == (1, 80, (140 + age + 60) // 10)


def test_a_burst_that_ended_early_is_known() -> None:
    some = Bursts(
        np.zeros((2, 17_600), np.int16), np.zeros((2, 160, 5), np.float16),
        np.array([80, 140], np.int32), [{"past_steps": 66}, {"past_steps": 60}],
    )  # fmt: skip
    assert features.heard_ms(some).tolist() == [430, 700]


def test_the_test_has_only_its_own_people(tmp_path: Path) -> None:
    found = people.recorded(shared(tmp_path))
    chosen = bursts.clips_of_test(found, np.random.default_rng(0), 1.0)
    assert chosen
    assert {clip.role for clip in chosen} == {"held-out"}


@pytest.mark.skipif(not (skips.RECORDINGS_FOLDER / "words").is_dir(), reason=skips.RECORDINGS)
def test_every_real_recording_has_a_role() -> None:
    folder = skips.RECORDINGS_FOLDER.parent
    if not (folder / "conversations").is_dir():
        pytest.skip(skips.RECORDINGS)
    found = people.recorded(folder)
    roles = defaultdict(set)
    for clip in found:
        roles[clip.group].add(clip.role)
    assert all(len(each) == 1 for each in roles.values())
    for role in ("training", "held-out"):
        assert sum(c.role == role and c.source in mixture.CONVERSATION for c in found) > 20
