"""Synthetic weights: written completely or not at all, reused, and usable as a model."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import StorageError
from appliance.models.local_model import Sampling
from appliance.think.gemma import Gemma
from lab.bench.model import spoken_of
from lab.bench.model_parts import clip
from lab.bench.model_shape import E2B
from lab.bench.model_weights import SPARE_BYTES, TEXT, check_room, size, write
from tests.lab.bench.tiny_model import SETTINGS, TINY


def test_a_disk_with_too_little_space_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"take 3\.7 GiB, and 1\.0 GiB are free\. Name"):
        check_room(size(E2B), 1 << 30, tmp_path)
    check_room(1 << 30, (1 << 30) + SPARE_BYTES, tmp_path)
    with pytest.raises(StorageError, match="another disk"):
        write(replace(TINY, vocabulary=1 << 40), tmp_path / "weights", [])
    assert list((tmp_path / "weights").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot be written .* Name another folder"):
        write(TINY, tmp_path / "file" / "weights", [])


@pytest.fixture
def files_of_a_mebibyte() -> Iterator[None]:
    """Limit the files that this process may write to 1 MiB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("files_of_a_mebibyte")
def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="File too large"):
        write(TINY, tmp_path, spoken_of(SETTINGS))
    assert list(tmp_path.iterdir()) == []


def test_existing_weights_are_reused(tmp_path: Path) -> None:
    text, audio = write(TINY, tmp_path, spoken_of(SETTINGS))
    before = text.stat().st_mtime_ns, audio.stat().st_mtime_ns
    assert text.name == TEXT
    assert write(TINY, tmp_path, []) == (text, audio)
    assert (text.stat().st_mtime_ns, audio.stat().st_mtime_ns) == before
    audio.unlink()
    write(TINY, tmp_path, [])
    assert text.stat().st_mtime_ns == before[0]
    assert audio.exists()


def test_the_model_computes_and_each_word_of_the_opening_is_one_token(
    files: tuple[Path, Path],
) -> None:
    gemma = Gemma(*files, context_tokens=512, threads=1, sampling=Sampling())
    words = gemma.tokenize(SETTINGS.thinking.persona, marks=False)
    signs = sum(SETTINGS.thinking.persona.count(sign) for sign in ".,")
    assert len(words) == len(SETTINGS.thinking.persona.split()) + signs
    gemma.evaluate(words, last=True)
    assert np.isfinite(gemma.logits()).all()
    assert gemma.logits().std() > 0.1
    assert np.isfinite(gemma.encode(clip(1, 1).samples)).all()
    gemma.close()
