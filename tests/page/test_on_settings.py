"""The settings on the page: changed by a form, refused with a reason, undone by a button."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from appliance.messages.commands import Mute, Restart, SetVolume
from appliance.runtime.handed_request import RequestOutcome, tell
from appliance.settings.settings_change import REQUEST, SettingsChange
from tests.page.desk import Desk

TEXT = "# mine\nlink:\n  broker: ha.local  # upstairs\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "settings.yaml").write_text(TEXT)
    made = Desk(tmp_path, link={"broker": "ha.local"})
    made.pair()
    return made


def base(desk: Desk) -> str:
    found = re.search(r'name="base" value="(\w+)"', desk.text("/set"))
    assert found
    return found[1]


def send(desk: Desk, which: str, **fields: str) -> tuple[int, str]:
    named = {key.replace("__", "."): value for key, value in fields.items()}
    form = {"form": which, "token": desk.token, "base": base(desk)} | named
    reply = desk.post("/set", form)
    return reply.status, reply.body.decode()


def test_every_field_shows_the_value_of_the_settings_file(desk: Desk) -> None:
    page = desk.text("/set")
    assert 'name="link.broker" type="text" value="ha.local"' in page
    assert 'name="hearing.wake.phrase" type="text" value="okay nabu"' in page
    assert (
        'name="hearing.wake.sensitivity" type="range" min="0" max="100" step="1" value="50"' in page
    )
    assert '<option value="auto" selected>the language spoken to it</option>' in page
    assert "Deutsch (de)" in page
    assert "Undo the last change" not in page
    assert "after a restart" not in page


def test_a_change_is_written_confirmed_and_needs_a_restart(desk: Desk) -> None:
    assert send(desk, "hearing", language="de", hearing__wake__sensitivity="70")[0] == 303
    text = desk.box.changes.owner.text()
    assert "# upstairs" in text
    assert desk.box.changes.owner.settings().hearing.wake.sensitivity == 0.7
    page = desk.text("/set?said=page-notice-saved")
    assert "Saved." in page
    assert "after a restart" in page
    assert '<option value="de" selected>Deutsch (de)</option>' in page
    reply = desk.post("/do", {"do": "restart", "back": "/set", "token": desk.token})
    assert ("Location", "/set") in reply.headers
    assert desk.sent == [Restart()]


def test_a_reverted_change_needs_no_restart(desk: Desk) -> None:
    send(desk, "hearing", language="de")
    send(desk, "hearing", language="auto")
    assert "after a restart" not in desk.text("/set")


@pytest.mark.parametrize(
    ("written", "code"), [('language: "no"', "no"), ("language: nb", "nb"), ("", "nb")]
)
def test_norwegian_is_one_row_for_every_spelling_of_its_code(
    desk: Desk, written: str, code: str
) -> None:
    (Path(desk.box.settings.state_dir) / "settings.yaml").write_text(f"{TEXT}{written}\n")
    row = f'<option value="{code}"{" selected" if written else ""}>norsk ({code})</option>'
    page = desk.text("/set")
    assert page.count(">norsk") == 1
    assert row in page
    before = desk.box.changes.owner.text()
    kept = {"language": code} if written else {"language": "auto"}
    assert send(desk, "hearing", hearing__wake__phrase="okay nabu", **kept)[0] == 303
    assert desk.box.changes.owner.text() == before, "saving the form again changes nothing"


def test_a_bad_value_is_reported_keeps_the_typed_text_and_changes_nothing(desk: Desk) -> None:
    status, page = send(desk, "house", link__port="99999", link__user="bob", link__broker="x.local")
    assert status == 400
    assert "link.port" in page
    assert 'value="99999"' in page
    assert 'value="bob"' in page
    assert desk.box.changes.owner.text() == TEXT


@pytest.mark.parametrize("language", ["klingon", "", "DE", "../de"])
def test_an_unknown_language_is_refused(desk: Desk, language: str) -> None:
    assert send(desk, "hearing", language=language)[0] == 400
    assert desk.box.changes.owner.text() == TEXT


def test_a_key_outside_the_forms_is_ignored(desk: Desk) -> None:
    assert send(desk, "panel", page__unmute="on", link__unmute="on", panel__night="")[0] == 303
    assert "unmute" not in desk.box.changes.owner.text()


def test_a_password_is_stored_and_never_shown_again(desk: Desk) -> None:
    assert send(desk, "house", link__broker="ha.local", secret="correct horse")[0] == 303
    assert desk.box.changes.owner.secret.read_text() == "correct horse\n"
    assert "horse" not in desk.text("/set")
    assert "horse" not in desk.box.changes.owner.text()
    status, page = send(desk, "house", link__port="no", secret="another horse")
    assert status == 400
    assert "another horse" not in page


def test_the_last_change_is_undone_by_a_button(desk: Desk) -> None:
    send(desk, "house", link__broker="other.local")
    assert "Undo the last change" in desk.text("/set")
    reply = desk.post("/set/undo", {"token": desk.token, "base": base(desk)})
    assert reply.status == 303
    assert desk.box.changes.owner.text() == TEXT
    assert "Undo the last change" not in desk.text("/set")
    assert desk.post("/set/undo", {"token": desk.token, "base": base(desk)}).status == 400


def test_a_form_older_than_another_change_is_refused(desk: Desk) -> None:
    form = {"form": "hearing", "token": desk.token, "base": base(desk), "language": "de"}
    send(desk, "house", link__broker="other.local")
    reply = desk.post("/set", form)
    assert reply.status == 400
    assert "changed meanwhile" in reply.body.decode()
    assert desk.box.changes.owner.settings().language == "auto"


def test_a_form_without_its_token_or_from_another_site_changes_nothing(desk: Desk) -> None:
    form = {"form": "hearing", "base": base(desk), "language": "de"}
    assert desk.post("/set", form).status == 403
    known = form | {"token": desk.token}
    assert desk.post("/set", known, origin="http://evil.example").status == 403
    desk.cookies.clear()
    assert desk.post("/set", known).status == 403
    assert desk.box.changes.owner.text() == TEXT


def test_an_invalid_settings_file_is_reported_and_not_changed(desk: Desk) -> None:
    desk.box.changes.owner.path.write_text("link:\n  brocker: x\n")
    page = desk.text("/set")
    assert "There is no setting `link.brocker`. Did you mean `link.broker`?" in page.replace(
        "&#39;", "'"
    )
    assert "<form" not in page
    form = {"form": "hearing", "token": desk.token, "base": "0" * 16, "language": "de"}
    assert desk.post("/set", form).status == 400
    assert desk.box.changes.owner.text() == "link:\n  brocker: x\n"


def test_settings_with_immediate_effect_are_sent_to_the_box(desk: Desk) -> None:
    page = desk.text("/set")
    assert page.count('name="back" value="/set"') >= 4
    told = "/set?said=page-notice-set-volume"
    for form, place in (({"do": "volume", "volume": "35"}, told), ({"do": "mute"}, "/set")):
        reply = desk.post("/do", form | {"back": "/set", "token": desk.token})
        assert ("Location", place) in reply.headers
    assert desk.sent == [SetVolume(0.35), Mute(on=True)]


def test_on_an_appliance_a_change_is_requested_and_the_page_waits_for_root(tmp_path: Path) -> None:
    for name in ("wanted", "changed"):
        (tmp_path / name).mkdir()
    desk = Desk(tmp_path, handed=True)
    desk.pair()
    assert send(desk, "house", link__broker="ha.local", secret="horse")[0] == 303
    assert not (tmp_path / "settings.yaml").exists()
    page = desk.text("/set")
    assert "is being written" in page
    assert 'http-equiv="refresh"' in page
    request = msgspec.json.decode((tmp_path / "wanted" / REQUEST).read_bytes(), type=SettingsChange)
    assert (request.values, request.secret) == ({"link.broker": "ha.local"}, "horse")
    tell(REQUEST, RequestOutcome(request.id, "It is not so.", "Do it."), tmp_path / "changed")
    page = desk.text("/set")
    assert "It is not so. Do it." in page
    assert 'http-equiv="refresh"' not in page
