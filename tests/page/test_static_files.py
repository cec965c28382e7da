"""The page's static files: complete, small, cached by browsers, and no other file of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.page import static_files, templates
from appliance.page.requests import Request
from appliance.page.static_files import StaticFiles

MOST_BYTES = 150_000  # sum of all files that a browser fetches for one page


def test_a_file_is_fetched_once_and_revalidated_afterwards() -> None:
    files = StaticFiles()
    first = files.reply(Request("GET", "/static/live.js"))
    assert first.status == 200
    tag = dict(first.headers)["ETag"]
    again = files.reply(Request("GET", "/static/live.js", {"if-none-match": tag}))
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/static/", "/static/../page.py", "/static/../../__main__.py", "/static/no.css"]
)
def test_no_other_path_is_a_file(path: str) -> None:
    assert StaticFiles().reply(Request("GET", path)).status == 404


def test_a_file_of_another_type_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("a")
    (tmp_path / "b.py").write_text("b")
    files = StaticFiles(tmp_path)
    assert files.size_bytes == 1
    assert files.reply(Request("GET", "/static/b.py")).status == 404
    assert files.reply(Request("POST", "/static/a.css")).status == 404


def test_all_static_files_stay_within_their_size_limit() -> None:
    every = [*static_files.FOLDER.iterdir(), *templates.FOLDER.iterdir()]
    assert sum(path.stat().st_size for path in every) < MOST_BYTES
