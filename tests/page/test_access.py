"""Access to the page: cookies, a file that contains none, a passphrase."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.background_file import write_private
from appliance.page.access import (
    FILE,
    MOST,
    UNSEEN_S,
    AccessStore,
    form_token,
    is_form_token,
)


class Clock:
    def __init__(self) -> None:
        self.now_s = 1.8e9

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def open_store(folder: Path, clock: Clock) -> AccessStore:
    return AccessStore(folder / FILE, clock)


def test_a_browser_is_recognised_by_its_cookie_after_a_restart(
    tmp_path: Path, clock: Clock
) -> None:
    cookie = open_store(tmp_path, clock).let_in("Firefox, Android")
    reopened = open_store(tmp_path, clock)
    found = reopened.find(cookie)
    assert found is not None
    assert found.name == "Firefox, Android"
    assert reopened.find(cookie[:-1] + ("A" if cookie[-1] != "A" else "B")) is None
    assert reopened.find("") is None


def test_the_file_is_readable_by_its_owner_only_and_contains_no_cookie(
    tmp_path: Path, clock: Clock
) -> None:
    cookie = open_store(tmp_path, clock).let_in("Phone")
    file = tmp_path / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert cookie.encode() not in file.read_bytes()


def test_a_revoked_access_stays_revoked_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path, clock)
    cookie, other = store.let_in("A"), store.let_in("B")
    store.revoke(store.browsers[0].id)
    assert store.find(cookie) is None
    assert store.find(other) is not None
    assert open_store(tmp_path, clock).find(cookie) is None


def test_a_browser_unseen_for_a_year_has_to_pair_again(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path, clock)
    cookie = store.let_in("A")
    clock.now_s += UNSEEN_S - 1
    assert store.find(cookie) is not None
    clock.now_s += UNSEEN_S - 1
    assert store.find(cookie) is not None, "it was seen meanwhile"
    clock.now_s += UNSEEN_S
    assert store.find(cookie) is None


def test_only_the_most_recently_seen_browsers_up_to_the_limit_are_kept(
    tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path, clock)
    cookies = []
    for number in range(MOST + 3):
        clock.now_s += 1
        cookies.append(store.let_in(f"phone {number}"))
    assert len(store.browsers) == MOST
    assert [bool(store.find(cookie)) for cookie in cookies] == [False] * 3 + [True] * MOST


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"browsers": [1]}'])
def test_a_damaged_file_admits_no_browser(
    tmp_path: Path, clock: Clock, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    write_private(tmp_path / FILE, text.encode())
    store = open_store(tmp_path, clock)
    assert store.browsers == ()
    assert "every browser has to pair again" in caplog.text
    assert store.find(store.let_in("A")) is not None


def test_an_unwritable_folder_is_logged_and_pairing_still_works(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    store = AccessStore(tmp_path / "file" / FILE, clock)
    assert store.find(store.let_in("A")) is not None
    assert "cannot be written" in caplog.text


def test_a_set_passphrase_is_required_and_not_stored_in_plain_text(
    tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path, clock)
    assert store.is_passphrase("anything")
    store.set_passphrase("blue kettle")
    assert b"kettle" not in (tmp_path / FILE).read_bytes()
    reopened = open_store(tmp_path, clock)
    assert reopened.has_passphrase
    assert reopened.is_passphrase("blue kettle")
    assert not reopened.is_passphrase("blue kettl")
    reopened.set_passphrase("")
    assert reopened.is_passphrase("")


def test_a_form_token_is_valid_for_one_cookie() -> None:
    assert is_form_token(form_token("a"), "a")
    assert not is_form_token(form_token("a"), "b")
    assert not is_form_token("ü", "a")
