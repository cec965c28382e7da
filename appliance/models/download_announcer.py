"""Announces how a model's download goes, and restarts the box when it is complete.

Runs as the box's own user, without a network, whenever there is news (download_news.py). Nothing
of the news is trusted: a model that is not whole in the store is not here. Each kind is said
once; at night only to somebody who has just put a stick in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import ModelError
from appliance.language.catalogue import SOURCE
from appliance.language.catalogue import catalogue as catalogue_of
from appliance.models import catalogue
from appliance.models.download_news import STICK, DownloadNews, sentence
from appliance.models.store import ModelStore
from appliance.record_file import read_record

QUIET_LOOK_S = 2.0  # between two looks whether somebody still talks
STICK_AGAIN_S = 60.0  # a stick that is put in again is spoken of again
RESTART_AGAIN_S = 3600.0  # no news restarts the box more often
DAY_H = range(7, 22)  # local time, in which the box speaks by itself
NAME = "said.json"


@dataclass(frozen=True)
class ModelAnnouncer:
    """All that it touches beside the store is handed in.

    memory   a folder in memory, for what was said since the start
    says     a sentence, aloud
    talking  whether somebody talks with the box
    restart  lets the box begin anew, with what is here then
    sleep    for so many seconds
    now_s    CLOCK_MONOTONIC
    hour     of the day, local
    language of what is said
    """

    store: ModelStore
    memory: Path
    says: Callable[[str], None]
    talking: Callable[[], bool]
    restart: Callable[[], None]
    sleep: Callable[[float], None]
    now_s: Callable[[], float]
    hour: Callable[[], int]
    language: str = SOURCE

    def announce(self, news: DownloadNews) -> bool:
        """Whether there was something to do. Raises OSError."""
        try:
            model = catalogue.find(news.model, self.store.models)
        except ModelError:
            return False
        here = news.kind == "here"
        if here and self.store.state(model) != "installed":
            return False
        said = read_record(self.memory / NAME, dict[str, float]) or {}
        key, now_s = f"{model.name} {news.kind}", self.now_s()
        again_s = RESTART_AGAIN_S if here else STICK_AGAIN_S
        if key in said and (not (here or news.kind in STICK) or now_s - said[key] < again_s):
            return False
        if not here and news.kind not in STICK and self.hour() not in DAY_H:
            return False  # what lasts is told again by day
        said = {} if here else said  # whatever comes after it is another story
        self._keep({**said, key: now_s})
        if not here or self.hour() in DAY_H:
            self.says(sentence(news, model, catalogue_of(self.language)))
        if here:
            while self.talking():
                self.sleep(QUIET_LOOK_S)
            self.restart()
        return True

    def _keep(self, said: dict[str, float]) -> None:
        write_whole(self.memory / NAME, msgspec.json.encode(said), lasting=False)
