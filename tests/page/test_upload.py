"""An upload over real connections: the only large form, and what each attack leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from appliance.page.backup_file import Backup, BackupTurn, pack
from appliance.page.http_server import MOST_BODY
from appliance.runtime.restore_files import CHECKED, UPLOAD
from tests.page.desk import Desk
from tests.page.served import Served, served_desk
from tests.page.test_on_backup import form, restore_file
from tests.waiting import until

pytestmark = pytest.mark.process  # connections time out after seconds


@pytest.fixture
def served(desk: Desk) -> Iterator[Served]:
    one = served_desk(desk)
    yield one
    one.close()


def paired(served: Served, desk: Desk) -> tuple[str, str]:
    """Cookies and token of a paired browser."""
    found: list[str] = []

    def pair() -> None:
        desk.site._host = ("interlude", 80)
        desk.pair()
        found.append("; ".join(f"{name}={value}" for name, value in desk.cookies.items()))
        found.append(desk.token)
        desk.site._host = ("interlude", served.port)

    served.do(pair)
    return found[0], found[1]


def upload_head(served: Served, cookies: str, length: int) -> bytes:
    return (
        f"POST /own/backup/upload HTTP/1.1\r\nHost: {served.host()}\r\nCookie: {cookies}\r\n"
        f"Origin: http://{served.host()}\r\nContent-Length: {length}\r\n"
        "Content-Type: multipart/form-data; boundary=XX\r\n\r\n"
    ).encode()


def test_a_backup_is_accepted_and_the_limits_of_other_forms_hold(
    served: Served, desk: Desk
) -> None:
    cookies, token = paired(served, desk)
    turns = tuple(BackupTurn("2026", n, "", 1.0, "x" * 9000, True) for n in range(40))
    body = form(token, pack(Backup(1.8e9, "0", "x", turns)))
    assert len(body) > 10 * MOST_BODY
    with served.connect() as connection:
        connection.sendall(upload_head(served, cookies, len(body)) + body)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 303")
    assert restore_file(desk, CHECKED).is_file()
    headers = {"Origin": f"http://{served.host()}", "Cookie": cookies,
            "Content_Type": "multipart/form-data; boundary=XX"}  # fmt: skip
    assert served.ask("POST", "/own/backup/restore", body, **headers)[0] == 413


def test_an_interrupted_upload_leaves_no_file(served: Served, desk: Desk) -> None:
    cookies, _ = paired(served, desk)
    with served.connect() as connection:
        connection.sendall(upload_head(served, cookies, 1 << 20) + b"my doctor is at noon" * 999)
        until(lambda: restore_file(desk, UPLOAD).exists())
    until(lambda: not restore_file(desk, UPLOAD).exists())
    assert served.ask("GET", "/")[0] == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_an_upload_of_a_gigabyte_by_a_paired_browser_is_refused_and_deleted(
    served: Served, desk: Desk, chunked: bool
) -> None:
    cookies, _ = paired(served, desk)
    head, piece = upload_head(served, cookies, 1 << 30), b"x" * 65_536
    if chunked:
        head = head.replace(b"Content-Length: 1073741824", b"Transfer-Encoding: chunked")
        piece = b"10000\r\n" + piece + b"\r\n"
    sent = 0
    with served.connect() as connection:
        connection.sendall(head)
        try:
            while sent < 64 << 20:
                sent += connection.send(piece)
        except (ConnectionError, TimeoutError):
            pass
    assert sent < 32 << 20
    until(lambda: not restore_file(desk, UPLOAD).exists())
    assert served.ask("GET", "/")[0] == 200
