"""A program that the page starts: its output is delivered however it ends."""

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


def test_the_output_of_the_program_for_its_input_is_returned() -> None:
    script = "import sys; sys.stdout.write(sys.stdin.read().upper())"
    assert output_of(script, b"findings") == b"FINDINGS"


def test_a_failed_program_has_no_output() -> None:
    assert output_of("print('half', flush=True); raise SystemExit(1)") == b""


def test_a_program_over_its_time_limit_is_ended() -> None:
    began_s = time.monotonic()
    assert output_of("import time; time.sleep(60)", longest_s=0.5) == b""
    assert time.monotonic() - began_s < 20


def test_running_programs_end_with_the_page() -> None:
    async def run() -> float:
        programs = ChildPrograms()
        programs.start((sys.executable, "-c", "input()"), b"", 60.0, lambda _: None)
        await asyncio.sleep(0)
        began_s = time.monotonic()
        await programs.close()
        return time.monotonic() - began_s

    assert asyncio.run(run()) < 20
