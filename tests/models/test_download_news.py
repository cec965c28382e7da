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


def test_only_the_last_news_is_read_and_only_once(tmp_path: Path) -> None:
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
def test_invalid_news_is_ignored_and_removed(tmp_path: Path, data: bytes | None) -> None:
    if data is None:
        os.mkfifo(tmp_path / download_news.NAME)
    else:
        (tmp_path / download_news.NAME).write_bytes(data)
    assert download_news.pop_news(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", get_args(NewsKind))
def test_every_kind_of_news_has_a_sentence_of_one_line(kind: NewsKind) -> None:
    model = catalogue.find(NAME)
    text = download_news.sentence(DownloadNews(NAME, kind, (0,)), model, english())
    assert text.endswith(".")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("lacks", "end"),
    [((), "a part of my model."), ((0,), " is not all there."), ((0, 1), " are not all there."),
     ((99, -1), "a part of my model.")],
)  # fmt: skip
def test_missing_files_are_named_from_the_catalogue_only(lacks: tuple[int, ...], end: str) -> None:
    news = DownloadNews(NAME, "part", lacks)
    assert download_news.sentence(news, catalogue.find(NAME), english()).endswith(end)
