"""Backup and restore on the page: no secrets, a review before restoring, and pairing required."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from appliance.dialog.memory import Memory, RememberedTurn
from appliance.messages.commands import Restart
from appliance.models.store import ModelStore
from appliance.page.backup_file import Backup, BackupTurn, pack, unpack
from appliance.page.on_backup import TICKET_S
from appliance.page.requests import Reply, Request
from appliance.page.upload import OVERHEAD_BYTES
from appliance.runtime import memory_files, restore_files
from appliance.runtime.restore_files import (
    BACK,
    CHECKED,
    UPLOAD,
    WANTED,
    RestoreOutcome,
    RestorePlan,
)
from appliance.settings import load
from appliance.tools import timer_store
from appliance.tools.timers import Timer
from tests.models.laid import lay
from tests.page.desk import HOST, Desk

SECRET, WORD = "correct-horse-battery", "my doctor is at noon"
MODEL = "gemma-4-e2b"


def add_owner_data(desk: Desk) -> None:
    settings = desk.box.settings
    memory = Memory(memory_files.path(settings), 100)
    for number in (1, 2):
        memory.remember(RememberedTurn("2026-11-22", number, "", 1.0, "Yes.", True, "m", WORD))
    memory.close()
    timers = timer_store.path(settings)
    timers.parent.mkdir()
    timers.write_bytes(timer_store.encoded((Timer(3, "eggs", 300.0, 5.0, 1.8e9),), "boot"))
    state = settings.state_path()
    (state / "settings.yaml").write_text("link: {name: Attic, broker: ha.local}  # mine\n")
    (state / "mqtt-password").write_text(SECRET)
    (state / "settings-undo.json").write_text(SECRET)


def make_backup(desk: Desk) -> str:
    """Make a backup and return the page that offers it."""
    return desk.post("/own/backup", {"token": desk.token}).body.decode()


def link(page: str) -> str:
    """The path from which the browser downloads the file."""
    found = re.search(r'name="ticket" value="(\w{32})"', page)
    assert found
    return f"/own/backup/file?ticket={found[1]}"


def saved(desk: Desk) -> bytes:
    return desk.get(link(make_backup(desk))).body


def form(token: str, data: bytes) -> bytes:
    head = 'Content-Disposition: form-data; name="'
    return (
        f'--XX\r\n{head}token"\r\n\r\n{token}\r\n--XX\r\n{head}backup"; filename="a.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    ).encode() + data + b"\r\n--XX--\r\n"  # fmt: skip


def upload(desk: Desk, body: bytes, **changed: str) -> Reply | None:
    """Upload as the server does; None where the site does not accept an upload."""
    headers = {
        "host": HOST, "origin": f"http://{HOST}",
        "content-type": "multipart/form-data; boundary=XX",
        "cookie": "; ".join(f"{name}={value}" for name, value in desk.cookies.items()),
    } | changed  # fmt: skip
    request = Request("POST", "/own/backup/upload", headers, {}, b"", "192.168.1.9")
    found = desk.site.receive(request)
    if found is None:
        return None
    for at in range(0, len(body), 65_536):
        if not found.write(body[at : at + 65_536]):
            found.close()
            return None
    return found.finish()


def restore_file(desk: Desk, ending: str) -> Path:
    return restore_files.archive(desk.box.settings.state_path(), ending)


def test_a_backup_contains_the_owners_data_and_no_secret(desk: Desk) -> None:
    add_owner_data(desk)
    desk.pair()
    data = saved(desk)
    found = unpack(data)
    assert found.turns is not None
    assert found.timers is not None
    assert [one.transcript for one in found.turns] == [WORD, WORD]
    assert [one.turn for one in found.turns] == [1, 2]
    assert [(one.name, one.due_wall_s) for one in found.timers] == [("eggs", 1.8e9)]
    assert found.settings == {"link.name": "Attic", "link.broker": "ha.local"}
    assert SECRET.encode() not in data
    (browser,) = desk.box.access.browsers
    assert browser.known_by.encode() not in data


def test_the_page_lists_what_a_backup_contains_and_omits(desk: Desk) -> None:
    add_owner_data(desk)
    desk.pair()
    page = make_backup(desk)
    for words in ("2 turns of conversation", "Timers and alarms: 1", "not the default: 2",
                  "Not in it: passwords", "interlude-20"):  # fmt: skip
        assert words in page
    reply = desk.get(link(page))
    assert reply.kind == "application/zip"
    assert dict(reply.headers)["Content-Disposition"].startswith('attachment; filename="interlude')
    assert unpack(reply.body).settings


def test_only_the_browser_that_made_a_backup_can_fetch_it_for_a_limited_time(
    desk: Desk,
) -> None:
    add_owner_data(desk)
    desk.pair()
    place = link(make_backup(desk))
    for other in ("/own/backup/file", "/own/backup/file?ticket=", place[:-1], f"{place}x",
                  "/own/backup/file?ticket=%C3%BC"):  # fmt: skip
        assert desk.get(other).status == 303
    mine = dict(desk.cookies)
    desk.cookies.clear()
    assert WORD.encode() not in desk.get(place).body, "an unpaired browser"
    desk.pair()
    assert desk.get(place).status == 303, "another paired browser"
    desk.cookies = mine
    assert desk.get(place).kind == "application/zip"
    desk.now_s += TICKET_S + 1
    assert desk.get(place).status == 303


def test_the_result_of_the_last_restore_is_shown(desk: Desk) -> None:
    desk.pair()
    state = desk.box.settings.state_path()
    outcome = state / restore_files.OUTCOME
    assert "Restored" not in desk.text("/own/backup")
    outcome.write_bytes(msgspec.json.encode(RestoreOutcome(1.8e9, {"memory": "put"})))
    page = desk.text("/own/backup")
    assert "Restored 2027-01-15" in page
    assert "nothing else is needed" in page
    (state / "settings.yaml").write_text("link: {name: Attic}\n")
    assert 'value="restart"' in desk.text("/own/backup"), "the new settings need a restart"
    failed = RestoreOutcome(1.8e9, {}, False, "x", "page-wrong-general-storage")
    outcome.write_bytes(msgspec.json.encode(failed))
    german = desk.get("/own/backup", accept_language="de").body.decode()
    assert "Es wurde nichts wiederhergestellt" in german
    assert "Die Karte lässt sich nicht lesen" in german
    outcome.write_bytes(b"\xff")
    assert desk.get("/own/backup").status == 200


def test_a_refused_backup_is_refused_in_the_browsers_language(desk: Desk) -> None:
    desk.pair()
    reply = upload(desk, form(desk.token, b"x" * 100_000), **{"accept-language": "de"})
    assert reply is not None
    assert "keine Sicherung von Interlude" in reply.body.decode()


def test_an_unpaired_browser_can_neither_save_nor_upload(desk: Desk) -> None:
    add_owner_data(desk)
    desk.pair()
    data, token = saved(desk), desk.token
    desk.cookies.clear()
    assert desk.post("/own/backup", {"token": token}).status == 403
    assert upload(desk, form(token, data)) is None
    assert not restore_file(desk, CHECKED).exists()
    for place in ("restore", "cancel", "back"):
        assert desk.post(f"/own/backup/{place}", {"token": token}).status == 403


@pytest.mark.parametrize(
    ("header", "value"),
    [("origin", "http://evil.example"), ("origin", ""), ("host", "evil.example"),
     ("sec-fetch-site", "cross-site"), ("content-type", "text/plain"),
     ("content-type", "multipart/form-data"), ("content-type", "multipart/form-data; boundary=")],
)  # fmt: skip
def test_an_upload_from_another_site_is_not_started(desk: Desk, header: str, value: str) -> None:
    desk.pair()
    assert upload(desk, form(desk.token, b""), **{header: value}) is None
    assert not restore_file(desk, UPLOAD).exists()


def test_an_upload_without_the_browsers_token_leaves_nothing(desk: Desk) -> None:
    add_owner_data(desk)
    desk.pair()
    for token in ("", "0" * 64, "\u00fc"):
        reply = upload(desk, form(token, saved(desk)))
        assert reply is not None
        assert reply.status == 403
    assert not list(restore_file(desk, UPLOAD).parent.glob("*.restore-*"))


def test_changes_are_shown_before_the_restore_and_then_made(desk: Desk) -> None:
    add_owner_data(desk)
    desk.pair()
    turns = tuple(BackupTurn("2026", n, "", 1.0, "x", True) for n in range(5))
    backup = Backup(1.8e9, "0.1.0", "Old <box>", turns, (), {"link.name": "Cellar"})
    reply = upload(desk, form(desk.token, pack(backup)))
    assert reply is not None
    assert reply.status == 303
    page = desk.text("/own/backup")
    for words in ("Old &lt;box&gt;", "2 turns become 5", "Attic → Cellar", "0 become 0"):
        assert words in page
    assert load(desk.box.changes.owner.path).link.name == "Attic"
    assert desk.sent == []
    assert desk.post("/own/backup/restore", {"token": desk.token}).status == 303
    assert desk.sent == [Restart()]
    assert load(desk.box.changes.owner.path).link.name == "Cellar"
    assert "# mine" in desk.box.changes.owner.path.read_text()
    assert unpack(restore_file(desk, WANTED).read_bytes()) == backup
    assert not restore_file(desk, CHECKED).exists()
    assert restore_file(desk, WANTED).stat().st_mode & 0o777 == 0o600
    assert "The box restarts" in desk.text("/own/backup")


def test_a_missing_model_is_left_out_with_a_notice_and_an_installed_one_is_restored(
    desk: Desk,
) -> None:
    add_owner_data(desk)
    desk.pair()
    files, token = desk.box.changes.owner, desk.token
    backup = Backup(1.0, "0", "x", settings={"thinking.model": MODEL, "link.name": "Cellar"})
    upload(desk, form(token, pack(backup)))
    page = desk.text("/own/backup")
    assert f"The language model stays as it is: {MODEL} is not on this box" in page
    assert "<code>thinking.model</code>" not in page
    assert desk.post("/own/backup/restore", {"token": token}).status == 303
    assert (files.settings().thinking.model, files.settings().link.name) == ("pocket", "Cellar")
    lay_model(desk, MODEL)
    upload(desk, form(token, pack(backup)))
    page = desk.text("/own/backup")
    assert f"<code>thinking.model</code>: pocket → {MODEL}" in page
    assert "is not on this box" not in page
    assert desk.post("/own/backup/restore", {"token": token}).status == 303
    assert files.settings().thinking.model == MODEL


@pytest.mark.parametrize("name", ["ljspeech", "gemma-5", "../../x", ""])
def test_only_a_language_model_of_this_box_is_restored_as_the_model(desk: Desk, name: str) -> None:
    add_owner_data(desk)
    desk.pair()
    lay_model(desk, "ljspeech")
    backup = Backup(1.0, "0", "x", settings={"thinking.model": name})
    upload(desk, form(desk.token, pack(backup)))
    assert desk.post("/own/backup/restore", {"token": desk.token}).status == 303
    assert desk.box.changes.owner.settings().thinking.model == "pocket"


def lay_model(desk: Desk, name: str) -> None:
    store = ModelStore.of(desk.box.settings)
    lay(store, store.models[name])


def test_a_cancelled_upload_is_deleted(desk: Desk) -> None:
    desk.pair()
    upload(desk, form(desk.token, pack(Backup(1.0, "0", "x"))))
    assert restore_file(desk, CHECKED).exists()
    assert desk.post("/own/backup/cancel", {"token": desk.token}).status == 303
    assert not restore_file(desk, CHECKED).exists()
    desk.post("/own/backup/restore", {"token": desk.token})
    assert desk.sent == []


@pytest.mark.parametrize("key", ["page.unmute", "state_dir", "link.unmute", "nothing", "x" * 200])
def test_a_backup_cannot_set_what_the_page_cannot(desk: Desk, key: str) -> None:
    desk.pair()
    upload(desk, form(desk.token, pack(Backup(1.0, "0", "x", settings={key: True}))))
    assert "which no backup holds" in desk.text("/own/backup")
    assert desk.post("/own/backup/restore", {"token": desk.token}).status == 400
    assert desk.sent == []
    assert not restore_file(desk, WANTED).exists()


def test_a_file_that_is_not_a_backup_is_refused_and_deleted(desk: Desk) -> None:
    desk.pair()
    reply = upload(desk, form(desk.token, b"x" * 100_000))
    assert reply is not None
    assert (reply.status, b"not a backup of Interlude" in reply.body) == (400, True)
    assert not list(restore_file(desk, UPLOAD).parent.glob("*.restore-*"))


@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"--XX--\r\n", b"--XX\r\n\r\n--XX--\r\n", form("x", b"")[:-9],
     form("x", b"").replace(b'name="backup"', b'name="token"'),
     form("x", b"").replace(b'name="backup"', b'name="more"'),
     b"--XX\r\n" + b'Content-Disposition: form-data; name="a"\r\n\r\n\r\n--XX\r\n' * 50],
)  # fmt: skip
def test_a_malformed_upload_form_is_refused(desk: Desk, body: bytes) -> None:
    desk.pair()
    reply = upload(desk, body)
    assert reply is not None
    assert reply.status == 415


def test_only_one_upload_runs_at_a_time(desk: Desk) -> None:
    desk.pair()
    first = desk.site.receive(_head(desk))
    assert first is not None
    assert restore_file(desk, UPLOAD).stat().st_mode & 0o777 == 0o600
    assert desk.site.receive(_head(desk)) is None
    first.write(b"half of it")
    first.close()
    first.close()
    assert not restore_file(desk, UPLOAD).exists()
    again = desk.site.receive(_head(desk))
    assert again is not None
    assert not again.write(b"x" * (again.most_body + 1)), "over the size limit"
    assert again.most_body == (6 << 20) + OVERHEAD_BYTES
    again.close()
    assert not restore_file(desk, UPLOAD).exists()


def _head(desk: Desk) -> Request:
    headers = {
        "host": HOST, "origin": f"http://{HOST}",
        "content-type": "multipart/form-data; boundary=XX",
        "cookie": "; ".join(f"{name}={value}" for name, value in desk.cookies.items()),
    }  # fmt: skip
    return Request("POST", "/own/backup/upload", headers, {}, b"", "192.168.1.9")


def test_undoing_the_last_restore_writes_a_request_only_if_there_was_one(desk: Desk) -> None:
    desk.pair()
    state = desk.box.settings.state_path()
    desk.post("/own/backup/back", {"token": desk.token})
    assert (desk.sent, (state / BACK).exists()) == ([], False)
    (state / restore_files.REPLACED).write_bytes(b'{"moves": {"timers": "put"}, "had": []}')
    assert restore_files.replaced(state) == RestorePlan({"timers": "put"})
    assert "Bring back what was there" in desk.text("/own/backup")
    assert desk.post("/own/backup/back", {"token": desk.token}).status == 303
    assert (desk.sent, (state / BACK).exists()) == ([Restart()], True)


def test_without_a_memory_a_backup_contains_no_word(tmp_path: Path) -> None:
    desk = Desk(tmp_path, memory={"keep_turns": 0})
    add_owner_data(desk)
    desk.pair()
    data = saved(desk)
    assert unpack(data).turns is None
    assert WORD.encode() not in data
