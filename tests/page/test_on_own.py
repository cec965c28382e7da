"""The page about the box: what runs, what is set, and no spoken words."""

from __future__ import annotations

from pathlib import Path

from appliance import __version__
from appliance.messages.commands import BoxStatus, StateChanged
from appliance.messages.tools import ShownTimer, TimersList
from tests.page.desk import Desk


def test_the_page_shows_what_runs_and_what_does_not(desk: Desk) -> None:
    desk.pair()
    page = desk.text("/own")
    for words in (__version__, "pocket", "espeak", "not set up", "all is well", "None is set"):
        assert words in page
    status = BoxStatus("open", False, 0.8, "amy", "gemma", broken=("words",), house=False)
    desk.box.model.handle(status, 0.0)
    page = desk.text("/own")
    for words in ("gemma", "no connection to the broker", "<dd>Wake word and stop words</dd>"):
        assert words in page


def test_the_page_counts_timers_without_their_names(desk: Desk) -> None:
    desk.pair()
    set_ = [ShownTimer(n, n == 3, "tea", 1.8e9 + n, 0 if n == 3 else 60.0) for n in (1, 2, 3)]
    desk.box.model.handle(TimersList(tuple(set_)), 0.0)
    page = desk.text("/own")
    assert "2 timers and one alarm; the next is due at 2027-01-15" in page
    assert "tea" not in page


def test_the_page_counts_sentences_that_another_voice_had_to_say(desk: Desk) -> None:
    desk.pair()
    desk.box.model.handle(StateChanged("idle", 1, 0, passed_on=7), 0.0)
    assert "another voice had to say</dt><dd>7</dd>" in desk.text("/own")


def test_the_software_page_is_linked_only_on_an_appliance(desk: Desk) -> None:
    desk.pair()
    for language, says in (("en", "nor go back to one"), ("de", "zu keiner zurückgegangen")):
        assert 'href="/own/software"' not in desk.text("/own")
        assert says in desk.get("/own/software", accept_language=language).body.decode()
    desk.box.places.incoming.mkdir()
    assert 'href="/own/software"' in desk.text("/own")
    assert "nor go back to one" not in desk.text("/own/software")


def test_a_box_without_a_memory_says_so(tmp_path: Path) -> None:
    desk = Desk(tmp_path, memory={"keep_turns": 0})
    desk.pair()
    assert "Nothing that is said is kept" in desk.text("/own")


def test_the_page_works_before_the_first_box_status(desk: Desk) -> None:
    desk.pair()
    desk.box.model.status = None
    assert desk.get("/own").status == 200
