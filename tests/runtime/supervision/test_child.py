"""A child process, its own children, and its exit code."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from appliance.messages.supervision import PartChanged
from appliance.runtime.supervision.child import how_it_ended
from tests.runtime.small_parts import Make, mail, pid, until


@pytest.mark.process
@pytest.mark.parametrize("number", [40, signal.SIGRTMAX - 1, signal.SIGABRT])
def test_a_part_ended_by_any_signal_is_reported_and_restarted(parts: Make, number: int) -> None:
    supervisor = parts({"first": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    mail(supervisor)
    victim = pid(supervisor, "first")
    os.kill(victim, number)
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip
    name = "SIGABRT" if number == signal.SIGABRT else f"signal {int(number)}"
    assert mail(supervisor)[0] == PartChanged("first", "down", f"was ended by {name}")


@pytest.mark.process
def test_the_children_of_a_part_end_with_it(parts: Make, tmp_path: Path) -> None:
    supervisor = parts({"first": "has a process of its own"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    grandchild = int((tmp_path / "doubles/first.pid").read_text())
    os.kill(pid(supervisor, "first"), signal.SIGKILL)
    until(supervisor, lambda: not Path(f"/proc/{grandchild}").exists()
          or "\nState:\tZ" in Path(f"/proc/{grandchild}/status").read_text())  # fmt: skip


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exited with code 0"),
        (78, "exited with code 78"),
        (-signal.SIGKILL, "was ended by SIGKILL"),
        (-signal.SIGRTMIN, "was ended by SIGRTMIN"),
        (-40, "was ended by signal 40"),
    ],
)
def test_an_exit_code_is_described_in_words_for_every_signal(code: int, words: str) -> None:
    assert how_it_ended(code) == words
