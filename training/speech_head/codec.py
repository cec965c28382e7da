"""The pocket codec in Mimi's shape: 24 kHz, 12.5 frames a second, 8 residual codebooks of 2048.

A frame is 80 ms of source-filter parameters: 8 hops of 98 numbers (bands.py). A linear transform
(principal components) makes 96 numbers of them, residual k-means makes 8 codes of those. Decoding
is the sum of 8 rows, the transform back, and the vocoder. Closed form, no gradient: of 64
components 96 % of the variance is left, where a convolutional autoencoder had after seven minutes
of training four times the error.

It encodes parameters, not sound: of its teacher's speech they are known exactly (teacher.py).
"""

import numpy as np
import torch
from torch import Tensor, nn

from training.speech_head.bands import HARMONIC, PARAMETERS, STACK

BOOKS, CODES, LATENT = 8, 2048, 96
STACKED = STACK * PARAMETERS
HARMONIC_FLOOR, NOISE_FLOOR = -9.0, -10.5  # log gains below which nothing is heard of a band
PITCH_WEIGHT, VOICED_WEIGHT = 8.0, 2.0  # an octave, a voice or none, against a neper in a band


def weighed(parameters: Tensor) -> Tensor:
    """[..., 98], in units in which errors weigh alike; what is not heard is at its floor."""
    pitch, voiced = parameters[..., :1] * PITCH_WEIGHT, (parameters[..., 1:2] * 2 - 1)
    harmonic = parameters[..., 2 : 2 + HARMONIC].clamp(min=HARMONIC_FLOOR)
    noise = parameters[..., 2 + HARMONIC :].clamp(min=NOISE_FLOOR)
    return torch.cat([pitch, voiced * VOICED_WEIGHT, harmonic, noise], -1)


class Codec(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(PARAMETERS))
        self.register_buffer("basis", torch.zeros(LATENT, STACKED))
        self.register_buffer("books", torch.zeros(BOOKS, CODES, LATENT))
        scale = torch.ones(PARAMETERS)
        scale[0], scale[1] = 1 / PITCH_WEIGHT, 1 / VOICED_WEIGHT
        self.register_buffer("scale", scale, persistent=False)

    def frames(self, parameters: Tensor) -> Tensor:
        """[hops, 98] → [hops // 8, 784]: what the transform takes. Without a voice the harmonics'
        bands are at their mean, where they cost nothing."""
        x = weighed(parameters[: len(parameters) // STACK * STACK]) - self.mean
        x[:, 2 : 2 + HARMONIC] *= parameters[: len(x), 1:2] > 0.5
        return x.reshape(-1, STACKED)

    def encode(self, parameters: Tensor) -> Tensor:
        """[hops, 98] → latents [hops // 8, 96]."""
        return self.frames(parameters) @ self.basis.T

    def decode(self, z: Tensor) -> Tensor:
        """[frames, 96] → parameters [frames · 8, 98]."""
        return ((z @ self.basis).reshape(-1, PARAMETERS) + self.mean) * self.scale

    def quantise(self, z: Tensor) -> Tensor:
        """[n, 96] → codes [n, 8]: the nearest row of each book to what those before it leave."""
        codes = []
        for book in self.books:
            i = nearest(z, book)
            codes.append(i)
            z = z - book[i]
        return torch.stack(codes, 1)

    def vectors(self, codes: Tensor) -> Tensor:
        """[n, 8] → [n, 96]"""
        return torch.stack([self.books[q][codes[:, q]] for q in range(BOOKS)]).sum(0)


def nearest(z: Tensor, book: Tensor) -> Tensor:
    half = 0.5 * (book * book).sum(1)
    return torch.cat([(half - x @ book.T).argmin(1) for x in z.split(8192)])


@torch.no_grad()  # type: ignore[untyped-decorator]
def fit(clips: list[Tensor], seed: int = 0, most: int = 200_000, rounds: int = 8) -> Codec:
    """Of clips' parameters [hops, 98], in all eight phases of a frame."""
    codec, g = Codec(), torch.Generator().manual_seed(seed)
    joined = torch.cat(clips)
    x, voiced = weighed(joined), joined[:, 1] > 0.5
    codec.mean.copy_(x.mean(0))
    codec.mean[2 : 2 + HARMONIC] = x[voiced, 2 : 2 + HARMONIC].mean(0)
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
