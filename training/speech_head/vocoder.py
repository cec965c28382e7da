"""The codec's last part in torch: parameters every 10 ms → sound. It is no network but a pulse
train and noise, each filtered by the gains of its bands; the harmonics' filter has minimum phase.

It can be exported to ONNX with explicit states (see export.py): calls with 8 hops each give the
same samples as one call with all. A hop's filtered sound lasts 960 samples and starts one hop
before it, so a sample is complete one hop later: DELAY.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.speech_head import bands
from training.speech_head.bands import BANDS, FFT, HOP, RATE

WINDOW = 2 * HOP
DELAY = HOP
TAIL = FFT - HOP  # samples of earlier hops' filtered sound
HIGHEST_HZ = 11_000.0
UNVOICED_AIR = 8.0  # natural log of noise over harmonics without a voice
STEP = 0.7548776662466927  # of the noise's sequence, see `noise`


class Vocoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        bins = FFT // 2 + 1
        level = bands.interpolation(BANDS, bins)
        for name, value in {
            "level": level,
            "phase": level @ bands.minimum_phase(bins),
            "air": bands.interpolation(bands.AIR, bins),
            "ramp": (np.arange(HOP) + 1.0) / HOP,
        }.items():
            self.register_buffer(name, torch.from_numpy(value).float(), persistent=False)

    def start(self) -> dict[str, Tensor]:
        """The initial state: zeros."""
        return {
            "turns": torch.zeros(1, dtype=torch.float64),
            "pitch": torch.zeros(1),
            "at": torch.zeros(1, dtype=torch.int64),
            "excitation": torch.zeros(2, HOP),
            "tail": torch.zeros(TAIL),
        }

    def forward(self, p: Tensor, state: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """p [hops, 82] → samples [hops · 240], DELAY later than the hops; the next state."""
        hops = p.shape[0]
        pitch = p[:, 0].clamp(-2.0, 1.5)
        before = torch.cat([state["pitch"], pitch[:-1]])
        octaves = before[:, None] + (pitch - before)[:, None] * self.ramp
        hz = (torch.exp(octaves * math.log(2)) * bands.REFERENCE_HZ).reshape(-1).double()
        turns = state["turns"] + torch.cumsum(hz / RATE, 0)
        voiced = torch.sigmoid(p[:, 1:2] * 8.0)
        sounds = torch.stack(
            [pulses(hz, turns).reshape(hops, HOP) * voiced,
             noise(state["at"], hops).reshape(hops, HOP)]
        )  # fmt: skip
        joined = torch.cat([state["excitation"][:, None], sounds], 1)  # [2, hops + 1, 240]
        forward, inverse = transforms()
        spectra = torch.cat([joined[:, :-1], joined[:, 1:]], 2) @ forward
        real, imaginary = spectra.chunk(2, -1)
        level = p[:, 2 : 2 + BANDS].clamp(bands.FLOOR, 2.0)
        both, angle = level @ self.level, level @ self.phase
        air = p[:, 2 + BANDS :] @ self.air
        air = air * voiced + UNVOICED_AIR * (1 - voiced)
        # a harmonic of amplitude g has the power g²/2, every `pitch` hertz
        loud = 0.5 * (math.log(2 * bands.REFERENCE_HZ) + math.log(2) * pitch[:, None])
        gain = torch.exp(both + loud - 0.5 * F.softplus(air))
        c, s = gain * torch.cos(angle), gain * torch.sin(angle)
        breath = torch.exp(both + 0.5 * math.log(RATE / 2) - 0.5 * F.softplus(-air))
        total = torch.cat(
            [real[0] * c - imaginary[0] * s + real[1] * breath,
             real[0] * s + imaginary[0] * c + imaginary[1] * breath], -1
        )  # fmt: skip
        pieces = (total @ inverse).reshape(hops, FFT // HOP, HOP)
        # overlap-add: piece k of hop h belongs to hop h - 1 + k
        out = F.pad(state["tail"], (0, hops * HOP)).reshape(-1, HOP)
        for k in range(FFT // HOP):
            out = out + F.pad(pieces[:, k], (0, 0, k, FFT // HOP - 1 - k))
        out = out.reshape(-1)
        after = {
            "turns": turns[-1:] - torch.floor(turns[-1:]),
            "pitch": pitch[-1:],
            "at": state["at"] + hops * HOP,
            "excitation": sounds[:, -1],
            "tail": out[hops * HOP :],
        }
        return out[: hops * HOP], after


def transforms() -> tuple[Tensor, Tensor]:
    """[480, 962]: a Hann window and the real and imaginary parts of 481 bins; [962, 960]: inverse.

    They are computed, not stored as weights, which keeps the exported file small.
    """
    bins = torch.arange(FFT // 2 + 1).double()
    turn = torch.arange(FFT).double()[:, None] * bins * (2 * math.pi / FFT)
    window = 0.5 - 0.5 * torch.cos(torch.arange(WINDOW).double() * (2 * math.pi / WINDOW))
    both = torch.cat([torch.cos(turn), -torch.sin(turn)], 1)
    edge = (bins == 0) | (bins == FFT // 2)
    scale = torch.where(edge, 1.0 / FFT, 2.0 / FFT)
    back = both * torch.cat([scale, scale])
    return (both[:WINDOW] * window[:, None]).float(), back.float().T


def pulses(hz: Tensor, turns: Tensor) -> Tensor:
    """All harmonics below HIGHEST_HZ with amplitude 1: sin((n + ½) t) / (2 sin(t/2)) − ½."""
    n = torch.floor(HIGHEST_HZ / hz) + 0.5
    half = (turns - torch.floor(turns)) * math.pi
    bottom = 2 * torch.sin(half)
    near = bottom.abs() < 2e-3
    top = torch.sin(2 * n * half) / torch.where(near, torch.ones_like(bottom), bottom)
    return (torch.where(near, n, top) - 0.5).float()


def noise(at: Tensor, hops: int) -> Tensor:
    """White, uniform noise of variance 1: the fractional part of a scaled sine of a quadratic.

    It is the same on every run, for any number of hops in a call.
    """
    i = (at + torch.arange(hops * HOP)).double()
    x = torch.sin(i * i * STEP + i * 12.9898) * 43758.5453
    return ((x - torch.floor(x)) * math.sqrt(12.0) - math.sqrt(3.0)).float()
