"""The speech head in three networks: hidden states of an answer's tokens → frames of codec codes.

Reader    tokens → a vector each, and the phones of the token. It sees one token ahead.
Phones    a sequence of phones → a vector and a duration each. It sees three phones ahead.
Frames    the phone under each 10 ms of a frame, and the position in it → the codec's latent vector,
          which the codec's books turn into codes. It is causal.
Phones are the interface between them: the pronunciation of words is trained on many sentences
without sound, the sound of phones on fewer sentences with sound.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

POINTS, POINT_S, FRAME_S = 8, 0.01, 0.08
POSITION = 5  # see `position`
BACK, AHEAD = 5, 3  # phones before and after one that the phone network sees
LONGEST_S = 4.0


@dataclass(frozen=True)
class HeadConfig:
    """The pocket model's sizes. latent: numbers of a frame before its quantiser."""

    width: int = 128  # of a hidden state
    layers: int = 6
    symbols: int = 64
    slots: int = 20  # phones of a token at most
    token: int = 192
    spell: int = 384
    phone: int = 160
    point: int = 96
    frame: int = 320
    frame_blocks: int = 2
    latent: int = 96


# For Gemma 4 E2B's states (the last six of 35 layers) and Mimi's latents (a semantic book and seven
# acoustic ones in 256 numbers each). Its tokens are parts of words, so the networks are wider.
E2B = HeadConfig(
    width=1536, symbols=96, slots=24, token=1024, spell=2048, phone=768, point=384, frame=1024,
    frame_blocks=6, latent=512,
)  # fmt: skip


class Block(nn.Module):
    """Causal ConvNeXt block. [B, width, T] → the same; `past` [B, width, kernel − 1]."""

    def __init__(self, width: int, kernel: int = 4, wider: int = 2) -> None:
        super().__init__()
        self.mix = nn.Conv1d(width, width, kernel, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, wider * width), nn.Linear(wider * width, width)

    def forward(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        joined = torch.cat([past, x], 2)
        y = self.norm(self.mix(joined).transpose(1, 2))
        y = x + self.down(F.gelu(self.up(y))).transpose(1, 2)
        return y, joined[:, :, -past.shape[2] :]


class Reader(nn.Module):
    def __init__(self, c: HeadConfig) -> None:
        super().__init__()
        self.config = c
        self.mix = nn.Parameter(torch.zeros(c.layers))
        self.enter = nn.Linear(2 * c.width, c.token)
        self.norm = nn.LayerNorm(c.token)
        self.around = nn.Conv1d(c.token, 2 * c.token, 3)
        self.down = nn.Linear(2 * c.token, c.token)
        self.out = nn.LayerNorm(c.token)
        self.spell = nn.Linear(c.token, c.spell)
        self.slots = nn.Linear(c.spell, c.slots * c.symbols)

    def forward(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """[B, T, 1 + layers, width] → vectors [B, T, token], logits [B, T, slots, symbols]."""
        s = F.layer_norm(states, (self.config.width,))
        mixed = (s[:, :, 1:] * self.mix.softmax(0)[:, None]).sum(2)
        x = self.enter(torch.cat([mixed, s[:, :, 0]], -1))
        y = self.around(F.pad(self.norm(x).transpose(1, 2), (1, 1))).transpose(1, 2)
        x = self.out(x + self.down(F.gelu(y)))
        z = self.slots(F.gelu(self.spell(x)))
        return x, z.reshape(*x.shape[:2], self.config.slots, self.config.symbols)


class PhoneBlock(nn.Module):
    def __init__(self, width: int, left: int, right: int) -> None:
        super().__init__()
        self.sides = (left, right)
        self.mix = nn.Conv1d(width, width, left + 1 + right)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """x: [B, P, width]; real: [B, P, 1], 0 for padding."""
        y = self.mix(F.pad((x * real).transpose(1, 2), self.sides)).transpose(1, 2)
        return x + self.down(F.gelu(self.up(self.norm(y))))


class Phones(nn.Module):
    def __init__(self, c: HeadConfig) -> None:
        super().__init__()
        self.name = nn.Embedding(c.symbols, c.phone)
        self.token = nn.Linear(c.token, c.phone)
        self.blocks = nn.ModuleList([PhoneBlock(c.phone, 2, 2), PhoneBlock(c.phone, 3, 1)])
        self.norm = nn.LayerNorm(c.phone)
        self.length = nn.Linear(c.phone, 1)

    def forward(self, symbols: Tensor, tokens: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """symbols [B, P], the vectors of their tokens [B, P, token] → [B, P, phone], seconds."""
        x = self.name(symbols) + self.token(tokens)
        for block in self.blocks:
            x = block(x, real)
        x = self.norm(x)
        return x, torch.exp(self.length(x)[..., 0].clamp(-3.0, 3.0) - 2.8)


class Frames(nn.Module):
    def __init__(self, c: HeadConfig) -> None:
        super().__init__()
        self.config = c
        self.point = nn.Linear(c.phone + POSITION, c.point)
        self.enter = nn.Linear(POINTS * c.point, c.frame)
        self.blocks = nn.ModuleList([Block(c.frame) for _ in range(c.frame_blocks)])
        self.norm = nn.LayerNorm(c.frame)
        self.out = nn.Linear(c.frame, c.latent)
        self.register_buffer("mean", torch.zeros(c.latent))
        self.register_buffer("spread", torch.ones(c.latent))

    def start(self, batch: int) -> list[Tensor]:
        return [torch.zeros(batch, self.config.frame, 3) for _ in self.blocks]

    def forward(self, under: Tensor, at: Tensor, past: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Phones' vectors [B, frames, 8, phone] and positions [B, frames, 8, 5] → latents."""
        x = F.gelu(self.point(torch.cat([under, at], -1)))
        x = F.gelu(self.enter(x.flatten(2))).transpose(1, 2)
        after = []
        for block, before in zip(self.blocks, past, strict=True):
            x, kept = block(x, before)
            after.append(kept)
        return self.out(self.norm(x.transpose(1, 2))) * self.spread + self.mean, after


class Head(nn.Module):
    def __init__(self, c: HeadConfig) -> None:
        super().__init__()
        self.config = c
        self.reader, self.phones, self.frames = Reader(c), Phones(c), Frames(c)


def position(start: Tensor, end: Tensor, breath: Tensor, t: Tensor) -> Tensor:
    """The positional features [..., 5] of times t in phones that last from `start` to `end`.

    `breath` is the start of the silence before the sentence. All times are in seconds.
    """
    since, left = (t - start).clamp(0.0, 1.0), (end - t).clamp(0.0, 1.0)
    whole = (end - start).clamp(min=0.01)
    age = ((t - breath) / LONGEST_S).clamp(0.0, 1.0)
    parts = [
        since * 8.0,
        left * 8.0,
        (since / whole).clamp(0.0, 1.0),
        whole.clamp(max=1.0) * 8.0,
        age,
    ]
    return torch.stack(parts, -1)
