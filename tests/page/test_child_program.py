"""A program that the page starts: its output comes by itself, whatever becomes of it."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from appliance.page.child_program import ChildPrograms

pytestmark = pytest.mark.process


def output_of(script: str, given: bytes = b"", longest_s: float = 30.0) -> bytes:
    async def run() -> bytes:
        told: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        ChildPrograms().start((sys.executable, "-c", script), given, longest_s, told.set_result)
        return await told

    return asyncio.run(run())


def test_what_it_writes_of_what_it_was_given_comes_back() -> None:
    script = "import sys; sys.stdout.write(sys.stdin.read().upper())"
    assert output_of(script, b"findings") == b"FINDINGS"


def test_one_that_fails_has_no_output_whatever_it_wrote() -> None:
    assert output_of("print('half', flush=True); raise SystemExit(1)") == b""


def test_one_that_takes_too_long_is_ended() -> None:
    began_s = time.monotonic()
    assert output_of("import time; time.sleep(60)", longest_s=0.5) == b""
    assert time.monotonic() - began_s < 20


def test_those_that_run_end_with_the_page() -> None:
    async def run() -> float:
        programs = ChildPrograms()
        programs.start((sys.executable, "-c", "input()"), b"", 60.0, lambda _: None)
        await asyncio.sleep(0)
        began_s = time.monotonic()
        await programs.close()
        return time.monotonic() - began_s

    assert asyncio.run(run()) < 20
