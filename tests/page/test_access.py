"""Who may use the page: cookies, a file that holds none, a passphrase."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def store(folder: Path, clock: Clock) -> AccessStore:
    return AccessStore(folder / FILE, clock)


def test_a_browser_is_known_by_its_cookie_also_after_a_new_start(
    tmp_path: Path, clock: Clock
) -> None:
    cookie = store(tmp_path, clock).let_in("Firefox, Android")
    again = store(tmp_path, clock)
    found = again.find(cookie)
    assert found is not None
    assert found.name == "Firefox, Android"
    assert again.find(cookie[:-1] + ("A" if cookie[-1] != "A" else "B")) is None
    assert again.find("") is None


def test_the_file_is_the_owners_alone_and_has_no_cookie_in_it(tmp_path: Path, clock: Clock) -> None:
    cookie = store(tmp_path, clock).let_in("Phone")
    file = tmp_path / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert cookie.encode() not in file.read_bytes()


def test_what_was_taken_back_is_gone_for_good(tmp_path: Path, clock: Clock) -> None:
    one = store(tmp_path, clock)
    cookie, other = one.let_in("A"), one.let_in("B")
    one.revoke(one.browsers[0].id)
    assert one.find(cookie) is None
    assert one.find(other) is not None
    assert store(tmp_path, clock).find(cookie) is None


def test_who_was_not_seen_for_a_year_pairs_again(tmp_path: Path, clock: Clock) -> None:
    one = store(tmp_path, clock)
    cookie = one.let_in("A")
    clock.now_s += UNSEEN_S - 1
    assert one.find(cookie) is not None
    clock.now_s += UNSEEN_S - 1
    assert one.find(cookie) is not None, "seen meanwhile"
    clock.now_s += UNSEEN_S
    assert one.find(cookie) is None


def test_only_so_many_are_kept_those_that_were_seen_last(tmp_path: Path, clock: Clock) -> None:
    one = store(tmp_path, clock)
    cookies = []
    for number in range(MOST + 3):
        clock.now_s += 1
        cookies.append(one.let_in(f"phone {number}"))
    assert len(one.browsers) == MOST
    assert [bool(one.find(cookie)) for cookie in cookies] == [False] * 3 + [True] * MOST


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"browsers": [1]}'])
def test_a_damaged_file_lets_nobody_in(
    tmp_path: Path, clock: Clock, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_text(text)
    one = store(tmp_path, clock)
    assert one.browsers == ()
    assert "every browser has to pair again" in caplog.text
    assert one.find(one.let_in("A")) is not None


def test_a_folder_that_cannot_be_written_is_said_and_keeps_nobody_out(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    one = AccessStore(tmp_path / "file" / FILE, clock)
    assert one.find(one.let_in("A")) is not None
    assert "cannot be written" in caplog.text


def test_a_passphrase_is_asked_for_where_one_is_set_and_is_not_in_the_file(
    tmp_path: Path, clock: Clock
) -> None:
    one = store(tmp_path, clock)
    assert one.is_passphrase("anything")
    one.set_passphrase("blue kettle")
    assert b"kettle" not in (tmp_path / FILE).read_bytes()
    again = store(tmp_path, clock)
    assert again.has_passphrase
    assert again.is_passphrase("blue kettle")
    assert not again.is_passphrase("blue kettl")
    again.set_passphrase("")
    assert again.is_passphrase("")


def test_a_forms_token_is_of_one_cookie() -> None:
    assert is_form_token(form_token("a"), "a")
    assert not is_form_token(form_token("a"), "b")
    assert not is_form_token("ü", "a")
