"""What a head hears: the division of people, clips that are cut alike, bands, the window."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from appliance.errors import RecordingError
from appliance.pcm import RATE_HZ
from lab.sim.corpus import held_out
from tests import skips
from training.murmur import bursts, clips, division, features, mixture
from training.murmur.clips import Clip
from training.murmur.mixture import InTurn, Mixture, Origin
from training.verdict.dataset import Bursts

SOURCES = ("meetings", "calls", "wake words", "talk", "kitchens")


def a_voice(seconds: float = 0.4, hz: float = 150.0) -> npt.NDArray[np.float32]:
    """A harmonic tone with 0.3 s of silence around it."""
    frames = np.arange(int(seconds * RATE_HZ))
    tone = sum(np.sin(2 * np.pi * hz * k * frames / RATE_HZ) / k for k in range(1, 40))
    quiet = np.zeros(3 * RATE_HZ // 10)
    return np.concatenate([quiet, np.asarray(tone) * 0.2, quiet]).astype(np.float32)


def a_clip(kind: str, source: str, who: str, role: str = "training") -> Clip:
    wave = clips.cut(a_voice(), 4800, 11200)
    assert wave is not None
    return Clip(kind, "word", source, who, f"{source} {who}", "r", "ours", role, wave, narrow=False)  # type: ignore[arg-type]


def test_each_name_has_one_role() -> None:
    for source in SOURCES:
        rows = division.rows(source)
        assert {role for role, _ in rows.values()} <= {"training", "tuning", "held-out"}


def test_people_of_one_meeting_have_one_role() -> None:
    roles = defaultdict(set)
    for role, group in division.rows("meetings").values():
        roles[group].add(role)
    assert all(len(each) == 1 for each in roles.values())
    assert division.part_of("meetings", "FEO070")[0] == division.part_of("meetings", "en2002b")[0]


def test_a_name_without_a_row_is_an_error() -> None:
    with pytest.raises(RecordingError, match="in no row"):
        division.part_of("meetings", "XYZ001")


def test_a_name_in_two_rows_is_an_error() -> None:
    with pytest.raises(RecordingError, match="two rows"):
        division.rows_of("twice", {"training": [["a"]], "test": [["a"]]})


@pytest.mark.parametrize("name", [f"{i:08x}" for i in range(0, 4_000_000, 123_457)])
def test_held_out_speakers_of_the_benches_are_only_in_the_test(name: str) -> None:
    assert (division.part_of("words", name)[0] == "held-out") == held_out(name)


def test_every_clip_has_the_same_margins_and_peak() -> None:
    for seconds in (0.2, 0.5, 2.0):
        wave = a_voice(seconds)
        cut = clips.cut(wave, 4800, 4800 + int(seconds * RATE_HZ))
        assert cut is not None
        assert np.abs(cut).max() == pytest.approx(0.5)
        wanted_s = min(seconds, clips.LONGEST_S) + 2 * clips.MARGIN_MS / 1000
        assert len(cut) == pytest.approx(wanted_s * RATE_HZ, abs=2)
        assert abs(cut[0]) == abs(cut[-1]) == 0


@pytest.mark.parametrize("wave", [np.zeros(8000, np.float32), a_voice()[:500]])
def test_a_silent_or_tiny_sound_is_no_clip(wave: npt.NDArray[np.float32]) -> None:
    assert clips.cut(wave, 0, len(wave)) is None


def test_speech_starts_after_a_pause_and_stops_before_one() -> None:
    wave = np.concatenate([a_voice(), a_voice()])
    begins = [int(0.3 * RATE_HZ), int((0.3 + 0.4 + 0.6) * RATE_HZ)]
    assert clips.starts(wave) == pytest.approx(begins, abs=RATE_HZ // 50)
    assert clips.stop(wave, begins[0]) == pytest.approx(begins[0] + 0.4 * RATE_HZ, abs=640)


def test_a_telephone_leaves_nothing_above_its_band() -> None:
    wave = a_voice()
    assert not clips.narrow(wave)
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
    for age in features.AGES_MS:
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


def shared(folder: Path) -> Path:
    """A folder like `shared` with one sound of each kind."""
    names = ["recordings/words/yes/0a_0", "recordings/words/stop/0b_0", "recordings/commands/0c",
             "conversations/wake_words/alexa/1", "conversations/murmurs/okay/MEE012_dev01-2-alone",
             "conversations/murmurs/um/MEE094_trn09-12.86-ov", "recordings/long/jfk",
             "conversations/household/dishes", "recordings/noise/kitchen"]  # fmt: skip
    long = np.tile(a_voice(), 5)
    for name in names:
        path = folder / f"{name}.flac"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(
            path, long if path.stem in ("jfk", "dishes", "kitchen") else a_voice(), RATE_HZ
        )
    moments = folder / "conversations/moments/meetings"
    moments.mkdir(parents=True)
    for name, yields in (("ami-es2002a-bc-1", False), ("ami-en2002b-take-0149", True)):
        about = {"caller_onset_sec": 0.3, "expected": {"yield": yields}}
        (moments / f"{name}.json").write_text(json.dumps(about))
        soundfile.write(moments / f"{name}.flac", np.stack([0.5 * long, long], axis=1), RATE_HZ)
    return folder


def test_every_folder_gives_its_clips(tmp_path: Path) -> None:
    found = clips.recorded(shared(tmp_path))
    kinds = {(clip.source, clip.kind) for clip in found}
    assert kinds >= {
        ("words", "backchannel"), ("words", "interruption"), ("orders", "interruption"),
        ("wake words", "interruption"), ("murmurs", "backchannel"), ("meetings", "backchannel"),
        ("meetings", "interruption"), ("talk", "interruption"), ("kitchens", "noise"),
    }  # fmt: skip
    recordings = {clip.recording for clip in found}
    assert "ami-en2002b-take-0149" not in recordings  # begins as a murmur, and its talker murmurs
    assert "MEE094_trn09-12.86-ov" not in recordings


@pytest.mark.parametrize(("other", "count"), [(0.5, 5), (1.5, 0)])
def test_a_voice_that_leaks_into_the_talkers_channel_is_no_talk(
    tmp_path: Path, other: float, count: int
) -> None:
    folder = shared(tmp_path)
    path = folder / "conversations/moments/meetings/ami-es2002a-bc-1.flac"
    long = np.tile(a_voice(), 5) * 0.5
    soundfile.write(path, np.stack([other * long, long], axis=1), RATE_HZ)
    talk = [clip for clip in clips.recorded(folder) if clip.word == "talk"]
    assert sum(clip.recording == path.stem for clip in talk) == count


def test_the_test_has_only_its_own_people(tmp_path: Path) -> None:
    found = clips.recorded(shared(tmp_path))
    chosen = bursts.clips_of_test(found, np.random.default_rng(0), 1.0)
    assert chosen
    assert {clip.role for clip in chosen} == {"held-out"}


@pytest.mark.skipif(not (skips.RECORDINGS_FOLDER / "words").is_dir(), reason=skips.RECORDINGS)
def test_every_real_recording_has_a_role() -> None:
    folder = skips.RECORDINGS_FOLDER.parent
    if not (folder / "conversations").is_dir():
        pytest.skip(skips.RECORDINGS)
    found = clips.recorded(folder)
    roles = defaultdict(set)
    for clip in found:
        roles[clip.group].add(clip.role)
    assert all(len(each) == 1 for each in roles.values())
    for role in ("training", "held-out"):
        assert sum(c.role == role and c.source in mixture.CONVERSATION for c in found) > 20
