"""The training of the speech head: texts, transforms, quantiser and networks, on little data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import skips

torch = pytest.importorskip("torch", reason=skips.TRAINING)
pytest.importorskip("scipy", reason=skips.TRAINING)
pytestmark = pytest.mark.process  # takes seconds of CPU time


@pytest.fixture(scope="module")
def clips() -> list[Any]:
    """Parameters of 40 s of a speech-like signal: a wandering pitch and correlated bands."""
    from training.speech_head.bands import PARAMETERS

    g = torch.Generator().manual_seed(0)
    walk = torch.randn(4000, 12, generator=g).cumsum(0)
    walk = (walk - walk.mean(0)) / walk.std(0)
    p = walk @ torch.randn(12, PARAMETERS, generator=g) * 0.3 - 9.0
    p[:, 0] = walk[:, 0] * 0.1
    p[:, 1] = (walk[:, 1] > -0.5).float()
    return [p[:2000], p[2000:]]


@pytest.fixture(scope="module")
def codec(clips: list[Any]) -> Any:
    from training.speech_head.codec import fit

    return fit(clips, most=4000, rounds=2)


def test_eight_codes_a_frame_reconstruct_the_parameters_closely(
    codec: Any, clips: list[Any]
) -> None:
    codes = codec.quantise(codec.encode(clips[0]))
    assert codes.shape == (250, 8)
    copy = codec.decode(codec.vectors(codes))
    voiced = clips[0][:, 1] > 0.5
    assert ((copy[:, 1] > 0) == voiced).float().mean() > 0.97
    wrong = (copy[:, 2:66] - clips[0][:, 2:66])[voiced].abs().mean()
    other = (clips[0][:, 2:66] - clips[0][voiced, 2:66].mean(0))[voiced].abs().mean()
    assert wrong < 0.3 * other


def test_the_vocoder_gives_the_same_result_in_pieces_as_at_once(clips: list[Any]) -> None:
    from training.speech_head.vocoder import Vocoder

    vocoder, p = Vocoder(), clips[0][:80]
    whole, _ = vocoder(p, vocoder.start())
    state, parts = vocoder.start(), []
    for at in range(0, 80, 8):
        part, state = vocoder(p[at : at + 8], state)
        parts.append(part)
    assert (torch.cat(parts) - whole).abs().max() < 1e-5
    assert whole.std() > 0.01


@pytest.mark.parametrize("hz", [110.0, 220.0])
def test_a_voiced_hop_has_the_given_pitch(hz: float) -> None:
    from training.speech_head.bands import FLOOR, PARAMETERS
    from training.speech_head.vocoder import Vocoder

    p = torch.full((100, PARAMETERS), FLOOR)
    p[:, 0], p[:, 1], p[:, 2:66], p[:, 66:] = np.log2(hz / 200.0), 1.0, -9.0, -5.0
    sound, _ = Vocoder()(p, Vocoder().start())
    spectrum = torch.fft.rfft(sound[4800:16800]).abs()
    lines = spectrum[round(hz / 2) :: round(hz / 2)][:20]  # a bin is 2 Hz
    between = spectrum[round(hz / 4) :: round(hz / 2)][:20]
    assert lines.mean() > 50 * between.mean()


def test_the_exported_codec_computes_the_same_as_torch(
    codec: Any, clips: list[Any], tmp_path: Path
) -> None:
    from appliance.voice.head.codec import Codec
    from training.speech_head.export import write_codec
    from training.speech_head.vocoder import DELAY, Vocoder

    write_codec(codec, tmp_path)
    player = Codec(tmp_path / "codec.json")
    codes = codec.quantise(codec.encode(clips[0][:160]))
    found, state = player.decode(codes.numpy(), player.start())
    p = codec.decode(codec.vectors(codes))
    wanted, _ = Vocoder()(p, Vocoder().start())
    wanted = wanted[DELAY:].numpy()
    # Codebooks and bands are stored as 16-bit floats, so the phase drifts and only spectra agree.
    a, b = (np.abs(np.fft.rfft(x[: 19 * 1920].reshape(-1, 960))) for x in (found, wanted))
    assert np.abs(a - b).mean() < 0.1 * b.mean()
    assert len(found) + len(player.finish(state)) == 20 * 1920


def test_no_training_text_contains_a_held_out_answer() -> None:
    from training.speech_head.texts import build

    found = build(200)
    assert len(found.held_out) == 15
    made = " ".join(found.made)
    for answer in found.held_out.values():
        assert answer not in found.trained.values()
        assert answer not in made
    assert not set(found.made) & set(found.made_held_out)


def test_training_the_reader_reduces_the_loss_of_phones() -> None:
    from training.speech_head.head import Head, HeadConfig

    torch.manual_seed(0)
    head = Head(HeadConfig(symbols=20, slots=6))
    states = torch.randn(4, 9, 7, 128)
    table = torch.randint(0, 20, (4, 9, 6))
    optimiser = torch.optim.AdamW(head.parameters(), 2e-3)
    losses = []
    for _ in range(8):
        _, z = head.reader(states)
        loss = torch.nn.functional.cross_entropy(z.flatten(0, 2), table.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_a_head_of_gemmas_size_has_mimis_shapes() -> None:
    from training.speech_head.head import E2B, Head

    with torch.no_grad():
        head = Head(E2B)
        x, z = head.reader(torch.zeros(1, 3, 7, 1536))
        latent, _ = head.frames(
            torch.zeros(1, 2, 8, E2B.phone), torch.zeros(1, 2, 8, 5), head.frames.start(1)
        )
    assert x.shape == (1, 3, E2B.token)
    assert z.shape == (1, 3, E2B.slots, E2B.symbols)
    assert latent.shape == (1, 2, 512)  # two groups of 256: the semantic codebook and seven more
