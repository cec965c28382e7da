"""Log lines start with journald's priority under systemd, otherwise with the time of day."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest

from appliance.runtime.log import set_up_logging


@pytest.fixture(autouse=True)
def pytests_own_logging() -> Iterator[None]:
    """Restore pytest's logging after each test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(
    ("level", "priority"),
    [(logging.DEBUG, 7), (logging.INFO, 6), (logging.WARNING, 4), (logging.ERROR, 3),
     (logging.CRITICAL, 5)],
)  # fmt: skip
def test_under_journald_a_line_starts_with_its_priority(
    level: int, priority: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JOURNAL_STREAM", "8:1")
    set_up_logging("debug")
    logging.getLogger("capture").log(level, "the card is %s", "gone")
    assert capsys.readouterr().err == f"<{priority}>capture: the card is gone\n"


def test_without_journald_a_line_starts_with_the_time_of_day(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    set_up_logging("info")
    logging.getLogger("capture").info("the card is back")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d\.\d{3} capture: the card is back\n", capsys.readouterr().err
    )


def test_records_below_the_level_are_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging("warning")
    logging.getLogger("capture").info("not this")
    logging.getLogger("capture").warning("but this")
    output = capsys.readouterr().err
    assert "not this" not in output
    assert "but this" in output


def test_libraries_that_log_every_request_log_only_warnings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_up_logging("debug")
    logging.getLogger("httpx").info("GET http://192.168.1.5/v1 with a key")
    logging.getLogger("httpx").warning("no answer")
    output = capsys.readouterr().err
    assert "key" not in output
    assert "no answer" in output
