"""Announces the progress of a model's download, and restarts the box when it is complete.

Runs as the box's own user, without a network, whenever there is news (download_news.py). The news
is not trusted: that a model is complete is checked in the store. Each kind is announced once; at
night only the kinds that follow the insertion of a USB stick.
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

QUIET_LOOK_S = 2.0  # polling interval while a conversation delays the restart
STICK_AGAIN_S = 60.0  # news of a stick is announced again after this, as it was inserted again
RESTART_AGAIN_S = 3600.0  # shortest time between two restarts
DAY_H = range(7, 22)  # local hours in which the box makes announcements
NAME = "said.json"


@dataclass(frozen=True)
class ModelAnnouncer:
    """Announces news. Everything that it uses besides the store is passed in.

    memory   a folder in memory, for the announcements made since the start
    says     speaks a sentence
    talking  whether a conversation is under way
    restart  restarts the box, which then uses the fetched model
    sleep    sleeps for so many seconds
    now_s    CLOCK_MONOTONIC
    hour     hour of the day, local time
    language language of the sentences
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
        """Announce the news, if it is due. Returns whether it was. Raises OSError."""
        try:
            model = catalogue.find(news.model, self.store.models)
        except ModelError:
            return False
        here = news.kind == "here"
        if here and self.store.state(model) != "installed":
            return False
        spoken = read_record(self.memory / NAME, dict[str, float]) or {}
        key, now_s = f"{model.name} {news.kind}", self.now_s()
        repeat_s = RESTART_AGAIN_S if here else STICK_AGAIN_S
        if key in spoken and (not (here or news.kind in STICK) or now_s - spoken[key] < repeat_s):
            return False
        if not here and news.kind not in STICK and self.hour() not in DAY_H:
            return False  # a failure that lasts is reported again by day
        spoken = {} if here else spoken  # later news belongs to another download
        self._save({**spoken, key: now_s})
        if not here or self.hour() in DAY_H:
            self.says(sentence(news, model, catalogue_of(self.language)))
        if here:
            while self.talking():
                self.sleep(QUIET_LOOK_S)
            self.restart()
        return True

    def _save(self, spoken: dict[str, float]) -> None:
        write_whole(self.memory / NAME, msgspec.json.encode(spoken), lasting=False)
