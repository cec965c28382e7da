"""Enrolment of an owner's voice through the page of a whole box: real processes, software card."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from appliance.hear.bargein import adaptation
from appliance.messages.enrolling import WORDS, EnrolmentWord
from appliance.messages.hearing import Onset
from appliance.messages.thinking import Think
from appliance.pcm import Samples
from appliance.runtime import enrolled_files
from lab.sim import speech_source
from tests.lab.sim.test_trials import PageOwner
from tests.learners import learners

pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("simcard_library"),
]
PLACE = "/own/voice"
# German words, which the shipped network misclassifies, so that learning has an effect.
SPOKEN_WORDS: dict[EnrolmentWord, str] = {
    "mm-hm": "klar", "yeah": "gut", "right": "verstehe",
    "wait": "warte", "stop": "stopp", "no": "nein",
}  # fmt: skip
LEVEL_DB = -24.0


class EnrollingOwner(PageOwner):
    """Says each requested word as soon as it is recorded, except at the first recording."""

    def __init__(self, state: Path) -> None:
        super().__init__(lambda _: self.steps(), state)
        self.sounds: dict[str, Samples] = {
            word: speech_source.at_level(
                speech_source.spoken(text, "de", 165, 50), LEVEL_DB
            ).samples
            for word, text in SPOKEN_WORDS.items()
        }
        self.recordings_begun = 0  # recordings whose begin was seen
        self.speaking = False
        self.began = self.learnt_at = 0
        self.pages: dict[str, str] = {}

    def page(self) -> str:
        return self.browser.ask("GET", PLACE)[1]

    def submit(self, do: str) -> None:
        self.post(PLACE, do=do)

    def steps(self) -> None:
        self.began = self.card.now()
        self.submit("begin")
        self.until(lambda: "nothing heard" in self.answered(), 120)
        self.pages["fault"] = self.page()
        self.until(lambda: "pulse" not in self.answered(), 480)
        self.pages["learnt"] = self.page()
        self.learnt_at = self.card.now()
        path = self.state_dir / enrolled_files.FILE
        self.mode = stat.S_IMODE(path.stat().st_mode)
        assert adaptation.load(self.state_dir) is not None
        self.files = sorted(item.name for item in self.state_dir.rglob("*.wav"))
        self.until(self.quiet)
        self.submit("forget")
        self.pages["forgotten"] = self.page()
        assert not path.exists()
        self.submit("begin")
        self.until(learners)
        self.submit("cancel")
        self.until(lambda: not learners())
        self.pages["cancelled"] = self.page()
        self.until(self.quiet)

    def answered(self) -> str:
        """Return the page, and say the word if one is being recorded."""
        page = self.page()
        prompt = re.search(r"Say &#34;([a-z-]+)&#34; now", page)
        if prompt is None:
            self.speaking = False
        elif not self.speaking:
            self.speaking = True
            if self.recordings_begun:
                self.say(self.sounds[prompt[1]], after_s=0.3)
            self.recordings_begun += 1
        return page


def test_the_page_enrols_deletes_and_cancels_an_owners_voice(
    tmp_path: Path,
) -> None:
    box = EnrollingOwner(tmp_path)
    recording = box.play()
    assert "Nobody is enrolled" in box.pages["fault"]
    assert "It is learnt and in use" in box.pages["learnt"], box.pages["learnt"]
    assert re.search(r"Enrolled: 20\d\d-", box.pages["learnt"])
    assert box.pages["learnt"].count(">accepted<") >= 2 * len(WORDS)
    assert box.mode == 0o600
    assert box.files == [], "a recording was kept"
    assert "Nobody is enrolled" in box.pages["forgotten"]
    assert "It was stopped." in box.pages["cancelled"]
    for kind in (Think, Onset):
        during = [
            item for at, item in recording.messages_of(kind) if box.began <= at < box.learnt_at
        ]
        assert during == [], "enrolment was treated as conversation"
