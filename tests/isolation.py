"""A pytest plugin: no state of the process outlives a test file, so that any order of files passes.

After the last test of a file the caches (functools) of our modules are emptied, and the process is
compared with the one that the file found: its environment, working directory, umask, signal
handlers, limits, and what our modules hold (tests/module_state.py). A change fails the teardown of
the file's last test, and is undone, so that no later file fails for it. KEPT has the exceptions.

Not seen: the inside of other objects that a module holds, and changes to a module in the same file
that imports it first.
"""

from __future__ import annotations

import gc
import locale
import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.module_state import Change, ModuleState
from tests.programs import runs_boxes

OURS = ("appliance", "image", "lab", "scripts", "system", "tests", "training", "voices")
# pytest sets the first in each phase of a test, pytest-timeout the second for each test.
OF_PYTEST = ("environment variable PYTEST_CURRENT_TEST", "handler of SIGALRM")
# Changes that remain, and why no later test can find them.
KEPT = {
    "the contents of lab.sim.launchers._launchers": "these processes fork the parts of boxes and"
    " have no state of a box: a request brings environment, folder and descriptors",
}
# Lines of /proc/self/status (proc(5)) that no process, or only root, can set back.
STATUS = frozenset({"Name", "Uid", "Gid", "Groups", "CapPrm", "CapEff", "NoNewPrivs", "Seccomp"})
LIMITS = {name: getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
MISSING = object()
# Aspects of one value each: how it is read, and how it is set.
ASPECTS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "working directory": (Path("/proc/self/cwd").readlink, os.chdir),  # it may be deleted
    "scheduling": (
        lambda: os.sched_getscheduler(0),
        lambda policy: os.sched_setscheduler(0, policy, os.sched_param(0)),
    ),
    "priority": (lambda: os.getpriority(0, 0), partial(os.setpriority, 0, 0)),
    "processors": (lambda: os.sched_getaffinity(0), partial(os.sched_setaffinity, 0)),
    "locale": (lambda: locale.setlocale(locale.LC_ALL), partial(locale.setlocale, locale.LC_ALL)),
    "time zone": (lambda: time.tzname, lambda _: time.tzset()),
    "temporary folder": (lambda: tempfile.tempdir, partial(setattr, tempfile, "tempdir")),
    "sys.path": (sys.path.copy, partial(sys.path.__setitem__, slice(None))),
    "sys.argv": (sys.argv.copy, partial(sys.argv.__setitem__, slice(None))),
    "level of the log": (lambda: logging.root.level, logging.root.setLevel),
    "garbage collector": (gc.isenabled, lambda value: gc.enable() if value else gc.disable()),
    "time limit of sockets": (socket.getdefaulttimeout, socket.setdefaulttimeout),
}


def read() -> dict[str, Any]:
    """What each aspect of the process is now."""
    found: dict[str, Any] = {f"environment variable {k}": v for k, v in os.environ.items()}
    found |= {f"handler of {each.name}": signal.getsignal(each) for each in signal.Signals}
    found |= {f"limit {name}": resource.getrlimit(number) for name, number in LIMITS.items()}
    found |= {name: get() for name, (get, _) in ASPECTS.items()}
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, value = line.partition(":\t")
        if key == "Umask":
            found["umask"] = int(value, 8)
        elif key in STATUS:
            found[f"{key} of the process"] = value
    for name in OF_PYTEST:
        found.pop(name, None)
    return found


def write(name: str, value: Any) -> None:
    """Set an aspect back. Raises OSError where the process lacks the right."""
    kind, _, which = name.rpartition(" ")
    if name in ASPECTS:
        ASPECTS[name][1](value)
    elif kind == "environment variable":
        os.environ.pop(which, None)
        if value is not MISSING:
            os.environ[which] = value
    elif kind == "handler of" and value is not None:  # None: code in C has set it
        signal.signal(signal.Signals[which], value)
    elif kind == "limit":
        resource.setrlimit(LIMITS[which], value)
    elif name == "umask":
        os.umask(value)


class Watch:
    """Compares the process with itself at the last call."""

    def __init__(self) -> None:
        self._modules = ModuleState(OURS)
        self._modules.changes()
        self._before = read()

    def end_file(self) -> list[str]:
        """Empty the caches; undo and name what a file has changed."""
        self._modules.clear_caches()
        found = [*self._modules.changes(), *self._changes_of_the_process()]
        changes = [change for change in found if change[0] not in KEPT]
        for _, undo in changes:
            with suppress(OSError):
                undo()
        if changes:
            self._before = read()
        return [name for name, _ in changes]

    def _changes_of_the_process(self) -> Iterator[Change]:
        before, now = self._before, read()
        if before == now:
            return
        for name in before | now:
            old, new = before.get(name, MISSING), now.get(name, MISSING)
            if old != new:
                yield name, partial(write, name, old)


_WATCH = pytest.StashKey[Watch]()


@pytest.fixture(scope="module", autouse=True)
def isolated(request: pytest.FixtureRequest) -> Iterator[None]:
    """Around the tests of a file and all its fixtures."""
    config = request.config
    if runs_boxes(config):  # image/test starts machines: its files have an order
        yield
        return
    if _WATCH not in config.stash:
        config.stash[_WATCH] = Watch()
    yield
    if left := config.stash[_WATCH].end_file():
        problem = f"{request.path.name} leaves behind, for the files that follow: {'; '.join(left)}"
        pytest.fail(f"{problem} (tests/isolation.py).", pytrace=False)
