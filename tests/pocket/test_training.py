"""The training runs from end to end, and what it writes is what llama.cpp computes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXTRA = "torch, scipy and gguf come with the training extra only"
torch = pytest.importorskip("torch", reason=EXTRA)
pytest.importorskip("scipy", reason=EXTRA)
pytest.importorskip("gguf", reason=EXTRA)
if not shutil.which("espeak-ng"):
    pytest.skip("espeak-ng is not installed: it speaks the clips", allow_module_level=True)


@pytest.fixture(scope="module")
def ears() -> Any:
    from training.pocket.ears import Ears

    torch.manual_seed(0)
    return Ears().eval()


@pytest.fixture(scope="module")
def mind() -> Any:
    from training.pocket.conversation import VOCABULARY_SIZE
    from training.pocket.mind import Mind, MindConfig

    torch.manual_seed(0)
    return Mind(MindConfig(vocabulary=VOCABULARY_SIZE)).eval()


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from training.pocket.speech import synthesise_corpus

    folder = tmp_path_factory.mktemp("speech")
    synthesise_corpus(folder, "train", scale=0.0003)
    return folder


def test_llama_cpp_computes_what_the_training_does(ears: Any, mind: Any, tmp_path: Path) -> None:
    from training.pocket.conversation import vocabulary
    from training.pocket.ears import token_count
    from training.pocket.export import export
    from training.pocket.through_llama import Pocket

    words = vocabulary()
    export(tmp_path, ears, mind, words)
    pocket = Pocket(tmp_path, context=512)

    text = "<|turn>user\ntell me about the moon, please! 12 häß\n\nstop<turn|>\n<|turn>model\n"
    pocket.read(text)
    ids = torch.tensor([words.encode("<bos>" + text)])
    assert pocket.past == ids.shape[1]
    ours = mind.logits(mind(mind.embed(ids), ids))[0, -1].detach().numpy()
    assert np.abs(pocket.logits() - ours).max() < 0.02

    clip = np.random.default_rng(0).normal(0, 0.05, 24_001).astype(np.float32)
    theirs = pocket.soft_tokens(clip)
    ours, tokens = ears(torch.from_numpy(clip)[None], torch.tensor([len(clip)]))
    assert len(theirs) == int(tokens[0]) == token_count(len(clip))
    assert np.abs(theirs - ours[0].detach().numpy()).max() < 0.02
    pocket.close()


def test_the_ears_are_causal(ears: Any) -> None:
    wave = torch.randn(1, 32_000) * 0.05
    whole, _ = ears(wave, torch.tensor([32_000]))
    half, tokens = ears(wave[:, :16_000], torch.tensor([16_000]))
    kept = int(tokens[0]) - 1
    assert torch.allclose(whole[0, :kept], half[0, :kept], atol=1e-4)


def test_skipped_positions_change_no_answer(mind: Any) -> None:
    ids = torch.randint(300, 2000, (2, 200))
    wanted = torch.tensor([[3, 150, 199], [0, 10, 77]])
    whole, some = mind(mind.embed(ids), ids), mind(mind.embed(ids), ids, wanted)
    assert torch.allclose(whole[torch.arange(2)[:, None], wanted], some, atol=1e-4)


def test_the_same_seed_makes_the_same_speech(speech: Path, tmp_path: Path) -> None:
    from training.pocket.speech import Corpus, synthesise_corpus

    synthesise_corpus(tmp_path, "train", scale=0.0003)
    first, second = (Corpus(folder, "train") for folder in (speech, tmp_path))
    assert first.rows == second.rows
    assert np.array_equal(first.samples, second.samples)


def test_surroundings_keep_clips_sane(speech: Path) -> None:
    from training.pocket.rooms import Surroundings
    from training.pocket.speech import Corpus

    corpus = Corpus(speech, "train")
    around = Surroundings(corpus.clip, len(corpus), np.random.default_rng(0), stock=2)
    clips = [around.heard(corpus.clip(0)) for _ in range(20)]
    clips += [around.nothing() for _ in range(20)]
    for clip in clips:
        assert clip.dtype == np.float32
        assert np.isfinite(clip).all()
        assert np.abs(clip).max() <= 1.0


def test_a_tiny_training_writes_both_files(tmp_path: Path) -> None:
    from training.pocket.train import train

    train(tmp_path / "cache", tmp_path / "weights", scale=0.0003, processes=1)
    written = {f.name for f in (tmp_path / "weights").iterdir()}
    assert written == {"pocket-text.gguf", "pocket-audio.gguf"}
