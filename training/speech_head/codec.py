"""The pocket codec in Mimi's shape: 24 kHz, 12.5 frames a second, 8 residual codebooks of 2048.

A frame is 80 ms of source-filter parameters: 8 hops of 82 numbers (bands.py). A linear transform
(principal components) maps them to 96 numbers, and residual k-means maps those to 8 codes. Decoding
is the sum of 8 rows, the inverse transform, and the vocoder. The fit needs no gradient descent; 96
components have 99.3 % of the variance.

`codes` computes the parameters of any recording from its sound (analysis.py). The teacher's random
noise is known, so in training the expected power of the noise is used.
"""

import numpy as np
import torch
from torch import Tensor, nn

from training.speech_head.analysis import parameters
from training.speech_head.bands import BANDS, PARAMETERS, STACK, Floats

BOOKS, CODES, LATENT = 8, 2048, 96
STACKED = STACK * PARAMETERS
HEARD = -13.0  # level below which a band is inaudible: -72 dB, if all bands have it
# Weights of an octave, of voiced or not, and of a neper of noise over harmonics, relative to a
# neper of a band's level.
PITCH_WEIGHT, VOICED_WEIGHT, AIR_WEIGHT = 8.0, 2.0, 0.3
AIR = slice(2 + BANDS, PARAMETERS)


def weighed(parameters: Tensor) -> Tensor:
    """[..., 82] in units in which errors have equal weight; inaudible levels are set to HEARD."""
    pitch, voiced = parameters[..., :1] * PITCH_WEIGHT, (parameters[..., 1:2] * 2 - 1)
    level, air = parameters[..., 2 : 2 + BANDS].clamp(min=HEARD), parameters[..., AIR]
    return torch.cat([pitch, voiced * VOICED_WEIGHT, level, air * AIR_WEIGHT], -1)


class Codec(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(PARAMETERS))
        self.register_buffer("basis", torch.zeros(LATENT, STACKED))
        self.register_buffer("books", torch.zeros(BOOKS, CODES, LATENT))
        scale = torch.ones(PARAMETERS)
        scale[0], scale[1], scale[AIR] = 1 / PITCH_WEIGHT, 1 / VOICED_WEIGHT, 1 / AIR_WEIGHT
        self.register_buffer("scale", scale, persistent=False)

    def frames(self, parameters: Tensor) -> Tensor:
        """[hops, 82] → [hops // 8, 656], the input of the transform.

        Without a voice all is noise, so its share is set to the mean, where it has no effect.
        """
        x = weighed(parameters[: len(parameters) // STACK * STACK]) - self.mean
        x[:, AIR] *= parameters[: len(x), 1:2] > 0.5
        return x.reshape(-1, STACKED)

    def encode(self, parameters: Tensor) -> Tensor:
        """[hops, 82] → latents [hops // 8, 96]."""
        return self.frames(parameters) @ self.basis.T

    def decode(self, z: Tensor) -> Tensor:
        """[frames, 96] → parameters [frames · 8, 82]."""
        return ((z @ self.basis).reshape(-1, PARAMETERS) + self.mean) * self.scale

    def quantise(self, z: Tensor) -> Tensor:
        """[n, 96] → codes [n, 8]: in each book the row nearest to the residual so far."""
        codes = []
        for book in self.books:
            i = nearest(z, book)
            codes.append(i)
            z = z - book[i]
        return torch.stack(codes, 1)

    def codes(self, sound: Floats) -> Tensor:
        """Sound at 24 kHz, full scale 1 → codes [samples // 1920, 8]."""
        return self.quantise(self.encode(torch.from_numpy(parameters(sound))))

    def vectors(self, codes: Tensor) -> Tensor:
        """[n, 8] → [n, 96]"""
        return torch.stack([self.books[q][codes[:, q]] for q in range(BOOKS)]).sum(0)


def nearest(z: Tensor, book: Tensor) -> Tensor:
    half = 0.5 * (book * book).sum(1)
    return torch.cat([(half - x @ book.T).argmin(1) for x in z.split(8192)])


@torch.no_grad()  # type: ignore[untyped-decorator]
def fit(clips: list[Tensor], seed: int = 0, most: int = 4000, rounds: int = 6) -> Codec:
    """Fit a codec to clips' parameters [hops, 82], in all eight phases of a frame."""
    codec, g = Codec(), torch.Generator().manual_seed(seed)
    joined = torch.cat(clips)
    x, voiced = weighed(joined), joined[:, 1] > 0.5
    codec.mean.copy_(x.mean(0))
    codec.mean[AIR] = x[voiced, AIR].mean(0)
    codec.mean[1] = 0.0
    frames = torch.cat([codec.frames(joined[phase:]) for phase in range(STACK)])
    frames = frames[torch.randperm(len(frames), generator=g)[:most]]
    values, vectors = np.linalg.eigh((frames.T @ frames / len(frames)).double().numpy())
    codec.basis.copy_(torch.from_numpy(vectors[:, ::-1][:, :LATENT].T.copy()))
    print(
        f"{LATENT} components: {values[::-1][:LATENT].sum() / values.sum():.4f} of the variance",
        flush=True,
    )
    z = frames @ codec.basis.T
    left = z.clone()
    for q in range(BOOKS):
        codec.books[q] = k_means(left, rounds, g)
        left = left - codec.books[q][nearest(left, codec.books[q])]
        print(f"book {q + 1}: {float(left.var() / z.var()):.4f} of it is left", flush=True)
    codec.eval()
    return codec


def k_means(z: Tensor, rounds: int, g: torch.Generator) -> Tensor:
    book = z[torch.randint(len(z), (CODES,), generator=g)].clone()
    for _ in range(rounds):
        i = nearest(z, book)
        n = torch.bincount(i, minlength=CODES)
        total = torch.zeros_like(book).index_add_(0, i, z)
        spare = z[torch.randint(len(z), (CODES,), generator=g)]
        book = torch.where(n[:, None] > 0, total / n.clamp(min=1)[:, None], spare)
    return book
