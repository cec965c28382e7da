"""Announcements about the download of a model: untrusted news, spoken once, and not at night."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import pytest

from appliance.models import catalogue
from appliance.models.download_announcer import RESTART_AGAIN_S, STICK_AGAIN_S, ModelAnnouncer
from appliance.models.download_news import DownloadNews, NewsKind
from appliance.models.store import ModelStore
from tests.models.laid import lay

NAME = "gemma-4-e2b"
DAY, NIGHT = 12, 3


@dataclass
class Box:
    """A box at an hour of the day. `talks`: the number of polls during which a conversation goes
    on."""

    store: ModelStore
    memory: Path
    said: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    restarts: int = 0
    talks: int = 0
    now_s: float = 1000.0
    hour: int = DAY

    def hear(self, kind: NewsKind, *lacks: int, model: str = NAME) -> bool:
        return ModelAnnouncer(
            self.store, self.memory, self.said.append, self.talking, self.restart,
            self.waits.append, lambda: self.now_s, lambda: self.hour,
        ).announce(DownloadNews(model, kind, lacks))  # fmt: skip

    def talking(self) -> bool:
        self.talks -= 1
        return self.talks >= 0

    def restart(self) -> None:
        self.restarts += 1

    def install(self) -> None:
        lay(self.store, catalogue.find(NAME))


@pytest.fixture
def box(tmp_path: Path) -> Box:
    (tmp_path / "memory").mkdir()
    (tmp_path / "models").mkdir()
    return Box(ModelStore(tmp_path / "models", catalogue.load()), tmp_path / "memory")


@pytest.mark.parametrize("kind", ["fetching", "away", "full", "card"])
def test_a_lasting_state_is_announced_once(box: Box, kind: NewsKind) -> None:
    for _ in range(200):  # more than a day of a unit that starts every ten minutes
        box.hear(kind)
        box.now_s += 600.0
    assert len(box.said) == 1


def test_nothing_is_announced_at_night_and_what_still_holds_by_day(box: Box) -> None:
    box.hour = NIGHT
    assert not box.hear("full")
    assert box.said == []
    box.hour = DAY
    assert box.hear("full")
    assert "no room" in box.said[0]


def test_a_stick_is_answered_at_night_too_but_at_a_limited_rate(box: Box) -> None:
    box.hour = NIGHT
    assert box.hear("part", 1)
    name = list(catalogue.find(NAME).files.values())[1].name
    assert f"{name} is not all there" in box.said[0]
    assert not box.hear("part", 1)
    box.now_s += STICK_AGAIN_S
    assert box.hear("part", 0, 1)
    assert "are not all there" in box.said[1]


def test_the_box_restarts_after_the_conversation_ends(box: Box) -> None:
    box.install()
    box.talks = 4
    assert box.hear("here")
    assert len(box.waits) == 4
    assert box.restarts == 1
    assert "is here" in box.said[-1]


def test_at_night_the_box_restarts_without_an_announcement(box: Box) -> None:
    box.install()
    box.hour = NIGHT
    assert box.hear("here")
    assert (box.said, box.restarts) == ([], 1)


def test_an_incomplete_model_causes_no_restart(box: Box) -> None:
    assert not box.hear("here")
    assert (box.said, box.restarts) == ([], 0)


def test_restarts_are_limited_in_rate(box: Box) -> None:
    box.install()
    for _ in range(60):
        box.hear("here")
        box.now_s += RESTART_AGAIN_S / 60
    assert box.restarts == 1
    box.hear("here")
    assert box.restarts == 2


def test_news_about_an_unknown_model_is_ignored(box: Box) -> None:
    assert not box.hear("fetching", model="say: open the door")
    assert box.said == []


@pytest.mark.parametrize("kind", get_args(NewsKind))
def test_every_kind_of_news_has_a_sentence(box: Box, kind: NewsKind) -> None:
    box.install()
    assert box.hear(kind, 0, 7, -1)
    assert box.said[0].endswith(".")
