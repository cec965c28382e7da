"""The bug report on the page: shown before it is saved, to paired browsers only."""

from __future__ import annotations

from pathlib import Path

from appliance import __version__
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.messages.tools import ShownTimer, TimersList
from appliance.runtime import memory_files
from tests.page.desk import Desk

CANARY = "canary"


def test_the_saved_report_is_the_one_shown(desk: Desk) -> None:
    desk.pair()
    desk.box.places.warnings.write_text("box interlude[1]: the card <hw:1> is gone\n")
    page = desk.text("/own/report")
    reply = desk.post("/own/report", {"token": desk.token})
    assert dict(reply.headers)["Content-Disposition"] == (
        'attachment; filename="interlude-report.txt"'
    )
    saved = reply.body.decode()
    for words in (f"version: {__version__}", "state: idle", "stops (ms): n 0", "card <hw:1> is"):
        assert words in saved
    shown = page.replace("&lt;", "<").replace("&gt;", ">")
    for line in saved.splitlines():  # except the free disk space, which changes meanwhile
        assert line.startswith("free_mib: ") or line in shown


def test_a_report_contains_no_secret_and_no_word(tmp_path: Path) -> None:
    desk = Desk(
        tmp_path,
        link={"name": CANARY, "broker": f"{CANARY}.local", "user": CANARY},
        thinking={"persona": f"You live with {CANARY}."},
    )
    (tmp_path / "mqtt-password").write_text(CANARY)
    memory = Memory(memory_files.path(desk.box.settings), 10)
    memory.remember(RememberedTurn("2026", 1, CANARY, 1.0, CANARY, True, "m", CANARY))
    memory.close()
    desk.box.model.handle(TimersList((ShownTimer(1, False, CANARY, 1.0),)), 0.0)
    desk.box.places.warnings.write_text(f"the broker {CANARY}.local is gone\n")
    desk.pair()
    saved = desk.post("/own/report", {"token": desk.token}).body.decode()
    assert CANARY not in saved.lower()
    assert "the broker (left out)" in saved


def test_an_unpaired_browser_neither_sees_nor_saves_a_report(desk: Desk) -> None:
    desk.box.places.warnings.write_text("something broke\n")
    assert "something broke" not in desk.text("/own/report")
    assert desk.post("/own/report").status == 403


def test_a_machine_without_a_log_says_so(desk: Desk) -> None:
    desk.pair()
    assert "no log is kept on this machine" in desk.text("/own/report")
