"""The training runs end to end, and llama.cpp computes the same from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import skips

torch = pytest.importorskip("torch", reason=skips.TRAINING)
pytest.importorskip("scipy", reason=skips.TRAINING)


@pytest.fixture(scope="module")
def encoder() -> Any:
    from training.pocket.audio_encoder import AudioEncoder

    torch.manual_seed(0)
    return AudioEncoder().eval()


@pytest.fixture(scope="module")
def decoder() -> Any:
    from training.pocket.conversation import VOCABULARY_SIZE
    from training.pocket.text_decoder import TextDecoder, TextDecoderConfig

    torch.manual_seed(0)
    return TextDecoder(TextDecoderConfig(vocabulary=VOCABULARY_SIZE)).eval()


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from training.pocket.speech import synthesise_corpus

    folder = tmp_path_factory.mktemp("speech")
    synthesise_corpus(folder, "train", scale=0.0003)
    return folder


def test_llama_cpp_computes_the_same_as_the_training_code(
    encoder: Any, decoder: Any, tmp_path: Path
) -> None:
    from training.pocket.audio_encoder import token_count
    from training.pocket.conversation import vocabulary
    from training.pocket.export import export
    from training.pocket.through_llama import Pocket

    words = vocabulary()
    export(tmp_path, encoder, decoder, words)
    pocket = Pocket(tmp_path, context=512)

    text = "<|turn>user\ntell me about the moon, please! 12 häß\n\nstop<turn|>\n<|turn>model\n"
    pocket.read(text)
    ids = torch.tensor([words.encode("<bos>" + text)])
    assert pocket.past == ids.shape[1]
    ours = decoder.logits(decoder(decoder.embed(ids), ids))[0, -1].detach().numpy()
    assert np.abs(pocket.logits() - ours).max() < 0.02

    clip = np.random.default_rng(0).normal(0, 0.05, 24_001).astype(np.float32)
    theirs = pocket.soft_tokens(clip)
    ours, tokens = encoder(torch.from_numpy(clip)[None], torch.tensor([len(clip)]))
    assert len(theirs) == int(tokens[0]) == token_count(len(clip))
    assert np.abs(theirs - ours[0].detach().numpy()).max() < 0.02
    pocket.close()


def test_written_weights_are_read_back(encoder: Any, decoder: Any, tmp_path: Path) -> None:
    from training.pocket.audio_encoder import AudioEncoder
    from training.pocket.conversation import vocabulary
    from training.pocket.export import export
    from training.pocket.restore import restore
    from training.pocket.text_decoder import TextDecoder

    words = vocabulary()
    export(tmp_path, encoder, decoder, words)
    other_encoder, other_decoder = AudioEncoder(), TextDecoder(decoder.config)
    restore(tmp_path, other_encoder, other_decoder, words)
    for written, read in ((encoder, other_encoder), (decoder, other_decoder)):
        for name, weights in written.state_dict().items():
            assert torch.allclose(read.state_dict()[name], weights, atol=2e-3), name


def test_a_word_keeps_its_row_when_the_table_grows(
    encoder: Any, decoder: Any, tmp_path: Path
) -> None:
    from training.pocket.export import export
    from training.pocket.restore import restore
    from training.pocket.text_decoder import TextDecoder
    from training.pocket.vocabulary import Vocabulary

    size = decoder.config.vocabulary
    before = Vocabulary(["the moon"], size)
    after = Vocabulary(["a zoo", "the moon"], size)
    export(tmp_path, encoder, decoder, before)
    again = TextDecoder(decoder.config)
    restore(tmp_path, encoder, again, after)
    rows, old = again.words.weight, decoder.words.weight
    assert before.ids["▁moon"] != after.ids["▁moon"]
    assert torch.allclose(rows[after.ids["▁moon"]], old[before.ids["▁moon"]], atol=2e-3)
    letters = torch.stack([old[before.ids[letter]] for letter in "▁zoo"]).mean(0)
    assert torch.allclose(rows[after.ids["▁zoo"]], letters, atol=2e-3)


def test_weights_of_another_shape_are_refused(encoder: Any, decoder: Any, tmp_path: Path) -> None:
    from training.pocket.conversation import vocabulary
    from training.pocket.export import export
    from training.pocket.restore import restore
    from training.pocket.text_decoder import TextDecoder, TextDecoderConfig

    words = vocabulary()
    export(tmp_path, encoder, decoder, words)
    wider = TextDecoder(TextDecoderConfig(vocabulary=decoder.config.vocabulary, width=256))
    with pytest.raises(ValueError, match="not"):
        restore(tmp_path, encoder, wider, words)


def test_the_audio_encoder_is_causal(encoder: Any) -> None:
    wave = torch.randn(1, 32_000) * 0.05
    whole, _ = encoder(wave, torch.tensor([32_000]))
    half, tokens = encoder(wave[:, :16_000], torch.tensor([16_000]))
    kept = int(tokens[0]) - 1
    assert torch.allclose(whole[0, :kept], half[0, :kept], atol=1e-4)


def test_computing_selected_positions_gives_the_same_logits(decoder: Any) -> None:
    ids = torch.randint(300, 2000, (2, 200))
    wanted = torch.tensor([[3, 150, 199], [0, 10, 77]])
    whole, some = decoder(decoder.embed(ids), ids), decoder(decoder.embed(ids), ids, wanted)
    assert torch.allclose(whole[torch.arange(2)[:, None], wanted], some, atol=1e-4)


def test_the_same_seed_gives_the_same_speech(speech: Path, tmp_path: Path) -> None:
    from training.pocket.speech import Corpus, synthesise_corpus

    synthesise_corpus(tmp_path, "train", scale=0.0003)
    first, second = (Corpus(folder, "train") for folder in (speech, tmp_path))
    assert first.rows == second.rows
    assert np.array_equal(first.samples, second.samples)


def test_simulated_rooms_keep_clips_finite_and_in_range(speech: Path) -> None:
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


def test_a_tiny_training_writes_both_files_and_can_resume_from_them(tmp_path: Path) -> None:
    from training.pocket.train import train

    first, second, cache = (tmp_path / name for name in ("first", "second", "cache"))
    train(cache, first, scale=0.0003, processes=1)
    for cached in cache.glob("tools*.pt"):
        cached.unlink()
    train(cache, second, scale=0.0003, processes=1, start=first)
    for folder in (first, second):
        assert {f.name for f in folder.iterdir()} == {"pocket-text.gguf", "pocket-audio.gguf"}


@pytest.mark.parametrize("name", ["time", "timer_15", "light_on"])
def test_a_tool_call_is_learned_and_the_tools_response_is_not(name: str) -> None:
    from training.pocket.conversation import Conversations, Sequence, vocabulary

    words = vocabulary()
    drawn = Conversations(words, seed=1)
    for _ in range(50):
        s = Sequence()
        drawn.call(s, drawn.answers[name])
        learned_text = words.decode(
            [i for i, weight in zip(s.ids, s.weights, strict=True) if weight]
        )
        assert learned_text in ("", *(drawn.vocabulary.decode(drawn.answers[name]) + end
                                for end in ("", "<turn|>")))  # fmt: skip
        assert words.decode(s.ids).endswith("<turn|>\n")
