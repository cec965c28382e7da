"""SIGTERM and Ctrl-C as exceptions: at once, or after msgspec has read a class."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest

from appliance.cli import signals


@pytest.mark.parametrize(
    ("number", "kind"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_raises_and_the_handlers_are_as_before(
    number: signal.Signals, kind: type[BaseException]
) -> None:
    before = signal.getsignal(number)
    with pytest.raises(kind), signals.raised():
        signal.raise_signal(number)
    assert signal.getsignal(number) == before


PROGRAM = """
import os, signal, time
import msgspec
from appliance.cli import signals

def interrupted():
    os.kill(os.getpid(), signal.{name})
    return int

class Read(msgspec.Struct):
    number: "interrupted()"

with signals.raised():
    try:
        print(msgspec.convert({{"number": 1}}, Read).number, flush=True)
        time.sleep(20)
    finally:
        print("undone", flush=True)
"""


@pytest.mark.process
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", signals.TERMINATED), ("SIGINT", 130)])
def test_a_signal_while_msgspec_reads_a_class_comes_afterwards(name: str, code: int) -> None:
    """msgspec crashes with SIGSEGV if the handler raises at once."""
    program = textwrap.dedent(PROGRAM).format(name=name)
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stdout.split() == ["1", "undone"]
    assert ran.returncode in {code, -signal.Signals[name]}
