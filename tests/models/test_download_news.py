"""News of a download, in one small file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import pytest

from appliance.language.catalogue import english
from appliance.models import catalogue, download_news
from appliance.models.download_news import DownloadNews, NewsKind

NAME = "gemma-4-e2b"


def test_news_is_read_once_and_only_the_last(tmp_path: Path) -> None:
    assert download_news.pop_news(tmp_path) is None
    download_news.write_news(DownloadNews(NAME, "fetching"), tmp_path)
    download_news.write_news(DownloadNews(NAME, "part", (0, 1)), tmp_path)
    assert download_news.pop_news(tmp_path) == DownloadNews(NAME, "part", (0, 1))
    assert download_news.pop_news(tmp_path) is None


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"model":"x","kind":"loud"}', b'{"model":"x","kind":"full","say":"y"}',
     b"x" * 300, None],
)  # fmt: skip
def test_what_is_no_news_is_none_and_gone(tmp_path: Path, data: bytes | None) -> None:
    if data is None:
        os.mkfifo(tmp_path / download_news.NAME)
    else:
        (tmp_path / download_news.NAME).write_bytes(data)
    assert download_news.pop_news(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", get_args(NewsKind))
def test_every_kind_has_a_sentence_that_fits_a_voice(kind: NewsKind) -> None:
    model = catalogue.find(NAME)
    said = download_news.sentence(DownloadNews(NAME, kind, (0,)), model, english())
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("lacks", "said"),
    [((), "a part of my model."), ((0,), " is not all there."), ((0, 1), " are not all there."),
     ((99, -1), "a part of my model.")],
)  # fmt: skip
def test_files_that_a_stick_lacks_are_named_by_the_catalogue_alone(
    lacks: tuple[int, ...], said: str
) -> None:
    news = DownloadNews(NAME, "part", lacks)
    assert download_news.sentence(news, catalogue.find(NAME), english()).endswith(said)
