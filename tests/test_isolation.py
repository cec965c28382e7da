"""A test file that changes the process fails, and the next file finds the process as it was."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.isolation import KEPT
from tests.programs import ROOT

pytestmark = pytest.mark.process

IMPORTS = """
import gc, locale, logging, os, resource, signal, socket, sys, tempfile, time
from appliance.language import catalogue
from tests import lanes, mirrors, waiting
"""
# What the plugin names; what the tests of a file do; what holds in a process that nobody changed.
LEFT = (
    ("environment variable NEW", "os.environ['NEW'] = ''", "'NEW' not in os.environ"),
    ("environment variable OLD", "del os.environ['OLD']", "os.environ['OLD'] == 'old'"),
    ("time zone", "os.environ['TZ'] = 'X-3'; time.tzset(); del os.environ['TZ']",
     "time.tzname[0] != 'X'"),
    ("working directory", "os.chdir('/')", "os.getcwd() != '/'"),
    ("umask", "os.umask(0o123)", "os.umask(0o22) == 0o22"),
    ("scheduling", "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))",
     "os.sched_getscheduler(0) == os.SCHED_OTHER"),
    ("priority", "os.nice(1)", "True"),  # only root can undo it
    ("limit RLIMIT_STACK", "resource.setrlimit(resource.RLIMIT_STACK, (77777, -1))",
     "resource.getrlimit(resource.RLIMIT_STACK)[0] != 77777"),
    ("handler of SIGUSR1", "signal.signal(signal.SIGUSR1, print)",
     "signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL"),
    ("sys.path", "sys.path.append('/nowhere')", "'/nowhere' not in sys.path"),
    ("temporary folder", "tempfile.tempdir = '/'", "tempfile.gettempdir() != '/'"),
    ("level of the log", "logging.root.setLevel(7)", "logging.root.level != 7"),
    ("garbage collector", "gc.disable()", "gc.isenabled()"),
    ("time limit of sockets", "socket.setdefaulttimeout(7.5)",
     "socket.getdefaulttimeout() is None"),
    ("tests.waiting.PATIENCE_S", "waiting.PATIENCE_S = 0.0", "waiting.PATIENCE_S > 0"),
    ("tests.lanes.Record.new", "lanes.Record.new = 1", "not hasattr(lanes.Record, 'new')"),
    ("the contents of tests.mirrors.ELSEWHERE", "mirrors.ELSEWHERE.clear()", "mirrors.ELSEWHERE"),
)  # fmt: skip


def run(folder: Path, files: dict[str, str]) -> str:
    """Run test files in their order. Returns what pytest prints."""
    for name, body in files.items():
        (folder / name).write_text(IMPORTS + body)
    (folder / "pytest.ini").touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", folder / "pytest.ini", "-p", "tests.isolation",
         "-p", "no:cacheprovider", "--basetemp", folder / "temp",
         *(folder / name for name in files)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60, umask=0o22,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OLD": "old"},
    )  # fmt: skip
    return done.stdout


def test_a_file_that_leaves_a_change_behind_fails_and_the_next_finds_none(tmp_path: Path) -> None:
    files = {}
    for number, (_, change, holds) in enumerate(LEFT):
        files[f"test_{number}.py"] = f"def test_changes():\n    {change}\n"
        files[f"test_{number}_next.py"] = f"def test_finds_none():\n    assert {holds}\n"
    printed = run(tmp_path, files)
    named = re.findall(r"^(test_\d+)\.py leaves behind.*?: (.*) \(", printed, re.MULTILINE)
    assert named == [(f"test_{number}", name) for number, (name, *_) in enumerate(LEFT)], printed
    assert f"{len(files)} passed, {len(LEFT)} errors in " in printed.splitlines()[-1]


def test_every_exception_exists() -> None:
    for name in KEPT:
        module, _, attribute = name.rpartition(" ")[2].rpartition(".")
        assert hasattr(importlib.import_module(module), attribute)


def test_what_a_file_undoes_itself_is_no_fault(tmp_path: Path) -> None:
    body = """
import pytest

@pytest.fixture(scope="module", autouse=True)
def folder():
    before = os.getcwd()
    os.chdir("/")
    yield
    os.chdir(before)

def test_changes(monkeypatch):
    monkeypatch.setenv("OLD", "new")
    monkeypatch.setattr(mirrors, "ROOT", None)
"""
    assert " 1 passed in " in run(tmp_path, {"test_one.py": body})


def test_between_files_the_caches_are_emptied(tmp_path: Path) -> None:
    kept = "catalogue.languages.cache_info().currsize"
    body = f"""
def test_fills():
    assert {kept} == 0
    catalogue.languages()

def test_finds_it():
    assert {kept} == 1
"""
    assert " 4 passed in " in run(tmp_path, {"test_one.py": body, "test_two.py": body})
