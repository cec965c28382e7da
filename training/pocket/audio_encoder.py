"""The audio network: log-mel front-end and conformer encoder of Gemma 4 ("gemma4a"), small.

In: 16 kHz float waveforms [clips, samples]. Out: soft tokens [clips, tokens, text width],
25 a second, which replace word embeddings in the text network.
The arithmetic is that of llama.cpp for a projector of type gemma4a, so that weights trained here
run there unchanged.
"""

import math
from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.pocket.sound import SAMPLE_RATE

FRAME_SAMPLES, HOP_SAMPLES, FFT_SAMPLES = 320, 160, 512  # 20 ms, 10 ms, fixed by gemma4a
MEL_FLOOR = 1e-3
PAST_TOKENS = 12  # attention sees itself and the 11 tokens before it: causal
ATTENTION_CAP = 50.0
EPS = 1e-6
Count = TypeVar("Count", int, Tensor)


@dataclass(frozen=True)
class AudioEncoderConfig:
    mels: int = 64  # the real model has 128
    channels: tuple[int, int] = (16, 16)  # of the two convolutions; real (128, 32)
    width: int = 96  # real 1024
    blocks: int = 4  # real 12
    heads: int = 4
    inner: int = 256  # of the feed-forward halves
    kernel: int = 5  # of the depthwise convolution, fixed by llama.cpp
    out: int = 96
    text_width: int = 128


def mel_filters(mels: int) -> Tensor:
    """[FFT bins, mels]: triangles evenly spaced on the HTK mel scale, 0 to 8 kHz, peak 1."""
    top = 2595.0 * math.log10(1.0 + SAMPLE_RATE / 2 / 700.0)
    edges_hz = 700.0 * (
        10.0 ** (torch.linspace(0, top, mels + 2, dtype=torch.float64) / 2595.0) - 1.0
    )
    bins_hz = torch.arange(FFT_SAMPLES // 2 + 1, dtype=torch.float64) * SAMPLE_RATE / FFT_SAMPLES
    rise = (bins_hz[:, None] - edges_hz[:-2]) / (edges_hz[1:-1] - edges_hz[:-2])
    fall = (edges_hz[2:] - bins_hz[:, None]) / (edges_hz[2:] - edges_hz[1:-1])
    return torch.minimum(rise, fall).clamp(min=0).float()


def frame_count(samples: Count) -> Count:
    return (samples + FRAME_SAMPLES // 2 - FRAME_SAMPLES - 1) // HOP_SAMPLES + 1


def halve(frames: Count) -> Count:
    """Length after one convolution of stride 2 and padding 1."""
    return (frames - 1) // 2 + 1


def token_count(samples: Count) -> Count:
    tokens: Count = halve(halve(frame_count(samples)))
    return tokens


def rms_norm(x: Tensor, weight: Tensor | None = None) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), weight, EPS)


class Norm(nn.Module):
    def __init__(self, width: int, start: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), start))

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.weight)


def linear(width_in: int, width_out: int, bias: bool = False) -> nn.Linear:
    """A layer with Xavier initialisation: with the usual 0.02 the encoder stays at chance level."""
    layer = nn.Linear(width_in, width_out, bias=bias)
    nn.init.xavier_normal_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


class FrontEnd(nn.Module):
    """Waveforms to log-mel frames [clips, frames, mels]; frames past a clip's end are zero."""

    def __init__(self, mels: int) -> None:
        super().__init__()
        window = torch.zeros(FFT_SAMPLES)
        window[:FRAME_SAMPLES] = torch.hann_window(FRAME_SAMPLES, periodic=True)
        self.register_buffer("window", window, persistent=False)
        self.register_buffer("filters", mel_filters(mels), persistent=False)

    def forward(self, wave: Tensor, samples: Tensor) -> tuple[Tensor, Tensor]:
        frames = frame_count(samples)
        longest = int(frame_count(wave.shape[1]))
        wave = F.pad(wave, (FRAME_SAMPLES // 2, FFT_SAMPLES))
        windows = wave.unfold(1, FFT_SAMPLES, HOP_SAMPLES)[:, :longest] * self.window
        mel = torch.log((torch.fft.rfft(windows).abs() @ self.filters).clamp(min=MEL_FLOOR))
        return mel * mask(frames, longest)[..., None], frames


def mask(lengths: Tensor, longest: int) -> Tensor:
    return (torch.arange(longest, device=lengths.device) < lengths[:, None]).float()


class Subsampling(nn.Module):
    """Two 3x3 convolutions of stride 2 over time and frequency: four frames to one token."""

    def __init__(self, c: AudioEncoderConfig) -> None:
        super().__init__()
        self.conv = nn.ModuleList(
            [
                nn.Conv2d(1, c.channels[0], 3, 2, 1, bias=False),
                nn.Conv2d(c.channels[0], c.channels[1], 3, 2, 1, bias=False),
            ]
        )
        self.norm = nn.ParameterList([nn.Parameter(torch.ones(n)) for n in c.channels])
        for conv in self.conv:
            nn.init.kaiming_normal_(conv.weight)
        self.project = linear(c.mels // 4 * c.channels[1], c.width)

    def forward(self, mel: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        x = mel[:, None]  # [clips, 1, frames, mels]
        for conv, weight in zip(self.conv, self.norm, strict=True):
            x = conv(x).permute(0, 2, 3, 1)  # channels last
            lengths = halve(lengths)
            x = F.relu(F.layer_norm(x, (x.shape[-1],), weight, None, EPS))
            x = (x * mask(lengths, x.shape[1])[..., None, None]).permute(0, 3, 1, 2)
        return self.project(x.permute(0, 2, 3, 1).flatten(2)), lengths


class FeedForward(nn.Module):
    def __init__(self, c: AudioEncoderConfig) -> None:
        super().__init__()
        self.norm, self.post_norm = Norm(c.width), Norm(c.width)
        self.up, self.down = linear(c.width, c.inner), linear(c.inner, c.width)

    def forward(self, x: Tensor) -> Tensor:
        return x + 0.5 * self.post_norm(self.down(F.silu(self.up(self.norm(x)))))


class Attention(nn.Module):
    """Causal attention over PAST_TOKENS with sinusoidal relative positions."""

    def __init__(self, c: AudioEncoderConfig) -> None:
        super().__init__()
        self.heads, self.head_width = c.heads, c.width // c.heads
        self.norm, self.post_norm = Norm(c.width), Norm(c.width)
        self.q, self.k, self.v = (linear(c.width, c.width) for _ in range(3))
        self.out, self.relative = linear(c.width, c.width), linear(c.width, c.width)
        self.q_scale = nn.Parameter(torch.ones(self.head_width))  # stored after the softplus
        rate = torch.exp(
            -torch.arange(c.width // 2) * math.log(10_000.0) / max(c.width // 2 - 1, 1)
        )
        angle = torch.arange(PAST_TOKENS)[:, None] * rate
        self.register_buffer("distance", torch.cat([angle.sin(), angle.cos()], 1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        clips, tokens, _ = x.shape
        y = self.norm(x)
        q, k, v = (
            f(y).view(clips, tokens, self.heads, self.head_width).transpose(1, 2)
            for f in (self.q, self.k, self.v)
        )
        q = q * self.q_scale * (self.head_width**-0.5 / math.log(2.0))
        k = k * (math.log(1.0 + math.e) / math.log(2.0))
        relative = self.relative(self.distance).view(PAST_TOKENS, self.heads, self.head_width)
        behind = torch.arange(tokens)[:, None] - torch.arange(tokens)  # query minus key
        near = q @ relative.permute(1, 2, 0)  # [clips, heads, tokens, PAST]
        index = behind.clamp(0, PAST_TOKENS - 1).expand(clips, self.heads, -1, -1)
        scores = q @ k.transpose(2, 3) + near.gather(3, index)
        scores = ATTENTION_CAP * torch.tanh(scores / ATTENTION_CAP)
        scores = scores.masked_fill((behind < 0) | (behind >= PAST_TOKENS), -1e9)
        y = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        return x + self.post_norm(self.out(y))


class Convolution(nn.Module):
    """Gated pointwise, then a causal depthwise convolution over five tokens."""

    def __init__(self, c: AudioEncoderConfig) -> None:
        super().__init__()
        self.norm, self.inner_norm = Norm(c.width), Norm(c.width)
        self.widen, self.narrow = linear(c.width, 2 * c.width), linear(c.width, c.width)
        self.depthwise = nn.Conv1d(c.width, c.width, c.kernel, groups=c.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = F.glu(self.widen(self.norm(x)), -1).transpose(1, 2)
        y = self.depthwise(F.pad(y, (self.depthwise.kernel_size[0] - 1, 0))).transpose(1, 2)
        return x + self.narrow(F.silu(self.inner_norm(y)))


class Block(nn.Module):
    def __init__(self, c: AudioEncoderConfig) -> None:
        super().__init__()
        self.first, self.attention = FeedForward(c), Attention(c)
        self.convolution, self.second = Convolution(c), FeedForward(c)
        self.norm = Norm(c.width)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.second(self.convolution(self.attention(self.first(x)))))


class AudioEncoder(nn.Module):
    def __init__(self, c: AudioEncoderConfig | None = None) -> None:
        super().__init__()
        self.config = c = c or AudioEncoderConfig()
        self.front_end, self.subsampling = FrontEnd(c.mels), Subsampling(c)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.blocks))
        self.out = linear(c.width, c.out, bias=True)
        self.to_text = linear(c.out, c.text_width)

    def encode(self, wave: Tensor, samples: Tensor) -> tuple[Tensor, Tensor]:
        """[clips, samples], sample counts -> states [clips, tokens, width], token counts."""
        with torch.no_grad(), torch.autocast(wave.device.type, enabled=False):
            mel, frames = self.front_end(wave, samples)
        x, tokens = self.subsampling(mel, frames)
        for block in self.blocks:
            x = block(x)
        return x, tokens

    def soft(self, states: Tensor) -> Tensor:
        """Project states to soft tokens, the input of the text network."""
        rows: Tensor = self.to_text(rms_norm(self.out(states)))
        return rows

    def forward(self, wave: Tensor, samples: Tensor) -> tuple[Tensor, Tensor]:
        states, tokens = self.encode(wave, samples)
        return self.soft(states), tokens
