"""Remembered turns on the page: who can read them, and how one turn is forgotten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.dialog.memory import Memory, RememberedTurn
from appliance.messages.commands import Forget, ForgetTurn, Forgotten
from appliance.page.on_memory import ON_A_PAGE
from appliance.runtime import memory_files
from tests.page.desk import Desk

CANARY = "my doctor is at noon"
STARTED = "2026-11-22T10:00:00+01:00"


def remember(desk: Desk, count: int = 1, heard: str = "It is wet.") -> None:
    memory = Memory(memory_files.path(desk.box.settings), 1000)
    for number in range(count):
        memory.remember(
            RememberedTurn(STARTED, number, "", 2.0, f"{heard} ({number})", True, "m", CANARY)
        )
    memory.close()


def test_a_paired_browser_reads_questions_and_answers(desk: Desk) -> None:
    remember(desk, heard="<i>wet</i>")
    desk.pair()
    page = desk.text("/own/memory")
    for words in (CANARY, "as the model heard it", "&lt;i&gt;wet&lt;/i&gt;", "2026-11-22 10:00"):
        assert words in page


def test_an_unpaired_browser_reads_and_forgets_nothing(desk: Desk) -> None:
    remember(desk)
    assert CANARY not in desk.text("/own/memory")
    form = {"started": STARTED, "turn": "0"}
    assert desk.post("/own/memory/forget", form).status == 403
    assert desk.sent == []


def test_with_the_memory_off_nothing_is_shown_even_if_a_file_exists(tmp_path: Path) -> None:
    desk = Desk(tmp_path, memory={"keep_turns": 0})
    remember(desk)
    desk.pair()
    page = desk.text("/own/memory")
    assert CANARY not in page
    assert "Nothing that is said is kept" in page


def test_no_other_page_shows_remembered_turns(desk: Desk) -> None:
    remember(desk)
    desk.pair()
    for path in ("/", "/own", "/own/timers", "/access"):
        assert CANARY not in desk.text(path)


def test_turns_are_paginated_newest_first(desk: Desk) -> None:
    remember(desk, ON_A_PAGE + 5)
    desk.pair()
    first, second = desk.text("/own/memory"), desk.text("/own/memory?page=2")
    shown = [re.findall(r"wet\. \((\d+)\)", page) for page in (first, second)]
    newest = [str(number) for number in range(ON_A_PAGE + 4, 4, -1)]
    assert shown == [newest, ["4", "3", "2", "1", "0"]]
    assert "1 / 2" in first
    assert desk.get("/own/memory?page=9").status == 200


@pytest.mark.parametrize("page", ["0", "-1", "x", "\u0663", "9" * 30])
def test_an_invalid_page_number_is_refused(desk: Desk, page: str) -> None:
    desk.pair()
    assert desk.get(f"/own/memory?page={page}").status == 400


def test_one_turn_is_forgotten_by_its_button_and_hidden_at_once(desk: Desk) -> None:
    remember(desk, 2)
    desk.pair()
    form = {"started": STARTED, "turn": "1", "token": desk.token}
    assert desk.post("/own/memory/forget", form).status == 303
    assert desk.sent == [ForgetTurn(STARTED, 1)]
    page = desk.text("/own/memory")
    assert "It is being overwritten" in page
    assert "(1)" not in page
    assert "(0)" in page
    desk.box.model.handle(Forgotten(problem="The card is read-only."), 0.0)
    assert "could not be forgotten: The card is read-only." in desk.text("/own/memory")
    desk.box.model.handle(Forgotten(), 0.0)
    assert "could not be forgotten" not in desk.text("/own/memory")


@pytest.mark.parametrize(
    ("started", "turn"), [("", "1"), (STARTED, ""), (STARTED, "x"), ("y" * 41, "1"),
                          (STARTED, str(2**62)), (STARTED, "-1")],
)  # fmt: skip
def test_an_invalid_turn_forgets_nothing(desk: Desk, started: str, turn: str) -> None:
    desk.pair()
    form = {"started": started, "turn": turn, "token": desk.token}
    assert desk.post("/own/memory/forget", form).status == 400
    assert desk.sent == []


def test_everything_can_be_forgotten_from_the_memory_page(desk: Desk) -> None:
    desk.pair()
    form = {"do": "forget", "back": "/own/memory", "token": desk.token}
    assert dict(desk.post("/do", form).headers)["Location"] == "/own/memory"
    assert desk.sent == [Forget(aloud=True)]


def test_an_unreadable_memory_is_reported(desk: Desk) -> None:
    remember(desk)
    memory_files.path(desk.box.settings).write_bytes(b"x" * 5000)
    desk.pair()
    assert "cannot be read at this moment" in desk.text("/own/memory")
