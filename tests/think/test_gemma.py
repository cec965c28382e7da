"""Gemma through llama.cpp: sound, interruption, and files that would crash llama.cpp."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.models.local_model import Sampling
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.gemma import Gemma
from tests.think import tiny
from tests.think.reading import Load, read_until_interrupted, some_tokens, sound


@pytest.mark.parametrize(
    ("samples", "rows"),
    [(0, 0), (1, 1), (2, 1), (639, 1), (640, 1), (16_000, 25), (16_000 * 30, 750)],
)
def test_a_second_of_sound_is_25_tokens_and_the_shortest_sound_is_one(
    gemma: Load, samples: int, rows: int
) -> None:
    assert gemma().encode(np.zeros(samples, np.int16)).shape == (rows, tiny.WIDTH)


def test_sound_over_30_s_is_encoded_in_equal_pieces(gemma: Load) -> None:
    model, long = gemma(), sound(40)
    halves = [model.encode(half) for half in np.split(long, 2)]
    assert np.array_equal(model.encode(long), np.concatenate(halves))


def test_sound_of_a_prefix_gives_the_same_tokens_but_the_last(gemma: Load) -> None:
    model, whole = gemma(), sound(3)
    part = model.encode(whole[:32_000])
    assert np.allclose(model.encode(whole)[: len(part) - 1], part[:-1], atol=1e-3)


def test_clipped_sound_is_encoded_and_nan_is_refused(gemma: Load) -> None:
    model = gemma()
    clipped = np.where(np.arange(16_000) % 2, 32767, -32768).astype(np.int16)
    assert np.isfinite(model.encode(clipped)).all()
    with pytest.raises(ModelError, match="no numbers"):
        model.encode(np.full(16_000, np.nan, np.float32))


def test_special_tokens_are_recognised_only_with_marks(gemma: Load) -> None:
    model = gemma()
    assert model.tokenize("<turn|>", marks=True) == [106]
    assert 106 not in model.tokenize("<turn|>", marks=False)


def test_an_interruption_ends_an_evaluation_within_a_token(gemma: Load) -> None:
    model = gemma(4096)
    read_on_by = []
    for _ in range(9):
        pulses: list[int] = []

        def interrupt(pulses: list[int] = pulses) -> None:
            model.interrupt()
            pulses.append(model.progress)

        timer = threading.Timer(0.02, interrupt)
        timer.start()
        with pytest.raises(AnswerAbandoned):
            read_until_interrupted(model, 0)
        timer.join()
        read_on_by.append(model.progress - pulses[0])
        model.resume()
        model.roll_back(0)
    assert max(read_on_by) <= 500  # the evaluation that was about to end
    assert read_on_by.count(0) > len(read_on_by) / 2


@pytest.mark.parametrize("seconds", [1, 30])
def test_progress_rises_many_times_while_one_clip_is_encoded(gemma: Load, seconds: int) -> None:
    model = gemma()  # two layers; Gemma has twelve
    model.encode(sound(seconds))
    assert model.progress >= 20


def test_an_interruption_ends_encoding_mid_clip_and_the_next_is_unaffected(gemma: Load) -> None:
    model, whole = gemma(), sound(30)
    fresh = model.encode(whole)
    steps = model.progress

    def interrupt() -> None:
        while model.progress == steps:  # until the second encoding has taken its first step
            continue
        model.interrupt()

    interrupting = threading.Thread(target=interrupt, daemon=True)
    interrupting.start()
    with pytest.raises(AnswerAbandoned):
        model.encode(whole)
    interrupting.join()
    assert model.progress - steps < steps  # it had not finished
    with pytest.raises(AnswerAbandoned):
        model.encode(whole)  # until `resume`
    model.resume()
    assert np.array_equal(model.encode(whole), fresh)


def load(text: Path, audio: Path) -> Gemma:
    return Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling())


def damaged(path: Path, folder: Path, how: str) -> Path:
    data = bytearray(path.read_bytes())
    match how:
        case "empty":
            data = bytearray()
        case "a text file":
            data = bytearray(b"Dear reader, this is not a model.\n" * 50)
        case "cut in its header":
            del data[20:]
        case "cut in the middle":
            del data[len(data) // 2 :]
        case "with a huge number of tensors":
            data[8:16] = (2**60).to_bytes(8, "little")
        case "with a huge number of keys":
            data[16:24] = (2**60).to_bytes(8, "little")
        case "with a huge string":
            data[24:32] = (2**62).to_bytes(8, "little")
    bad = folder / "bad.gguf"
    bad.write_bytes(data)
    return bad


DAMAGES = [
    "empty",
    "a text file",
    "cut in its header",
    "cut in the middle",
    "with a huge number of tensors",
    "with a huge number of keys",
    "with a huge string",
]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_text_model_is_refused_in_one_sentence(
    tiny_files: tuple[Path, Path], tmp_path: Path, how: str
) -> None:
    with pytest.raises(ModelError, match="not a model that can be used") as caught:
        load(damaged(tiny_files[0], tmp_path, how), tiny_files[1])
    assert "\n" not in str(caught.value)
    assert "no reason given" not in str(caught.value)


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_audio_model_is_refused_in_one_sentence(
    tiny_files: tuple[Path, Path], tmp_path: Path, how: str
) -> None:
    with pytest.raises(ModelError, match="not a model that can be used") as caught:
        load(tiny_files[0], damaged(tiny_files[1], tmp_path, how))
    assert "\n" not in str(caught.value)


def test_swapped_text_and_audio_models_are_refused(
    tiny_files: tuple[Path, Path],
) -> None:
    text, audio = tiny_files
    with pytest.raises(ModelError, match="main model"):
        load(audio, audio)
    with pytest.raises(ModelError, match="not a model that can be used"):
        load(text, text)


def test_a_model_of_an_unknown_architecture_is_refused(
    tiny_files: tuple[Path, Path], tmp_path: Path
) -> None:
    tiny.write_text(tmp_path / "other.gguf", "gemma99")
    with pytest.raises(ModelError, match="unknown model architecture: 'gemma99'"):
        load(tmp_path / "other.gguf", tiny_files[1])


def test_a_missing_file_is_named_with_its_remedy(
    tiny_files: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=r"none\.gguf is missing.*interlude models fetch"):
        load(tmp_path / "none.gguf", tiny_files[1])
    with pytest.raises(ModelError, match=r"none\.gguf is missing"):
        load(tiny_files[0], tmp_path / "none.gguf")


def test_a_copy_of_the_sampler_restores_its_random_state(gemma: Load) -> None:
    model = gemma(sampling=Sampling(temperature=1.0))
    model.evaluate(some_tokens(50), last=True)
    before = model.copy_sampler()
    first = [model.sample() for _ in range(30)]
    assert len(set(first)) > 1
    model.replace_sampler(before)
    assert [model.sample() for _ in range(30)] == first
    model.free_sampler(model.copy_sampler())
    assert model.sample() >= 0
