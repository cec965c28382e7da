"""The update check on the page: a request to root, and its result."""

from __future__ import annotations

import os
import time

import msgspec
import pytest

from appliance.language.catalogue import BoxSentence
from appliance.runtime.handed_request import RequestOutcome, tell
from appliance.update.look_request import REQUEST, LookRequest
from appliance.update.release.look_record import LookRecord, LookReporter, mark, note_success
from appliance.update.request import InstallProgress
from tests.page.desk import Desk
from tests.page.views import progress

PLACE = "/own/software/look"


@pytest.fixture
def box(desk: Desk) -> Desk:
    """An appliance with an update address, and a paired browser."""
    places = desk.box.places
    for folder in (places.incoming, places.looked, places.changed):
        folder.mkdir()
    desk.box.look_changes.wanted.mkdir()
    places.pull.write_text("PULL_URL=https://fleet.example/sheet.json\n")
    desk.pair()
    return desk


def wanted(desk: Desk) -> LookRequest | None:
    try:
        data = (desk.box.look_changes.wanted / REQUEST).read_bytes()
    except FileNotFoundError:
        return None
    return msgspec.json.decode(data, type=LookRequest)


def ask(desk: Desk, source: str) -> int:
    return desk.post(PLACE, {"source": source, "token": desk.token}).status


def taken(desk: Desk, source: str, problem: str = "", key: str = "") -> None:
    """Take the request as root does: start the check, or answer with a refusal."""
    request = wanted(desk)
    assert request is not None
    (desk.box.look_changes.wanted / REQUEST).unlink()
    if not problem:
        mark("stick" if source == "stick" else "web", desk.box.places.changed).touch()
    told = RequestOutcome(request.id, problem, key=key)
    tell(REQUEST, told, desk.box.look_changes.changed)


def test_a_month_without_a_look_that_succeeded_is_shown(box: Desk) -> None:
    assert "No look for updates has succeeded" not in box.text("/own/software")
    old_s = time.time() - 31 * 86_400
    os.utime(box.box.places.pull, (old_s, old_s))
    assert "No look for updates has succeeded for 30 days" in box.text("/own/software")
    note_success(box.box.places.incoming)
    assert "No look for updates has succeeded" not in box.text("/own/software")


@pytest.mark.parametrize("source", ["web", "stick"])
def test_an_update_check_is_requested_awaited_and_reported_with_its_time(
    box: Desk, source: str
) -> None:
    assert ask(box, source) == 303
    request = wanted(box)
    assert request is not None
    assert request.source == source
    taken(box, source)
    page = box.text("/own/software")
    assert "refresh" in page
    assert ("looks on the stick" if source == "stick" else "looks for a new version.") in page
    assert ask(box, source) == 409
    reporter = LookReporter(request.source, box.box.places.looked)
    reporter.fetches("0.9.0")
    assert "Version 0.9.0 is being downloaded" in box.text("/own/software")
    reporter.over(BoxSentence.of("page-look-none", kept="0.2.0", there="0.1.0"))
    page = box.text("/own/software")
    assert "There is nothing newer: this box has 0.2.0" in page
    assert f"Last looked {time.strftime('%Y-%m-%d')}" in page
    german = box.get("/own/software", accept_language="de").body.decode()
    assert "Es gibt nichts Neueres" in german
    assert ask(box, source) == 303


def test_a_failed_update_check_is_reported_in_the_browsers_language(box: Desk) -> None:
    record = LookRecord(
        time.time(), "over", text="x", key="page-wrong-look-reach", values={"at": "https://f"},
        well=False,
    )  # fmt: skip
    (box.box.places.looked / "web").write_bytes(msgspec.json.encode(record))
    assert "https://f cannot be reached" in box.text("/own/software")
    german = box.get("/own/software", accept_language="de").body.decode()
    assert "https://f ist nicht zu erreichen" in german


def test_a_refusal_by_root_is_shown(box: Desk) -> None:
    ask(box, "web")
    taken(box, "web", "None is set.", "page-wrong-look-nowhere")
    german = box.get("/own/software", accept_language="de").body.decode()
    assert "Es ist keine Adresse eingetragen" in german


def test_an_update_check_without_an_answer_is_reported_after_a_while(box: Desk) -> None:
    ask(box, "web")
    box.now_s += 3600
    assert 'role="alert"' in box.text("/own/software")


def test_without_an_address_there_is_no_button_and_the_page_says_so(box: Desk) -> None:
    box.box.places.pull.unlink()
    page = box.text("/own/software")
    assert "No address is set at which this box would look" in page
    assert 'value="web"' not in page
    assert 'value="stick"' in page
    assert ask(box, "web") == 400
    assert wanted(box) is None


@pytest.mark.parametrize("source", ["", "https://evil.example", "../web", "WEB"])
def test_no_other_source_can_be_checked(box: Desk, source: str) -> None:
    assert ask(box, source) == 400
    assert wanted(box) is None


def test_no_other_site_and_no_unpaired_browser_can_request_an_update_check(box: Desk) -> None:
    form = {"source": "web", "token": box.token}
    assert box.post(PLACE, {"source": "web"}).status == 403
    assert box.post(PLACE, form, origin="http://evil.example").status == 403
    assert box.get(PLACE).status == 405
    box.cookies.clear()
    assert box.post(PLACE, form).status == 403
    assert wanted(box) is None


def test_during_an_installation_no_update_check_is_requested(box: Desk) -> None:
    progress(InstallProgress("0.4.0", "unpack", 0.4))(box)
    assert ask(box, "web") == 409
    assert wanted(box) is None


def test_the_output_of_an_update_check_is_escaped_and_bounded(box: Desk) -> None:
    """The user that runs the check has no privileges, so its output is untrusted."""
    evil = LookRecord(time.time(), "over", text="<script>alert(1)</script>", key="none-such")
    (box.box.places.looked / "web").write_bytes(msgspec.json.encode(evil))
    page = box.text("/own/software")
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    os.truncate(box.box.places.looked / "web", 1 << 30)
    assert box.get("/own/software").status == 200


def test_a_development_machine_offers_no_update_check(desk: Desk) -> None:
    desk.pair()
    assert desk.post(PLACE, {"source": "web", "token": desk.token}).status == 400
    assert "Look now" not in desk.text("/own/software")
