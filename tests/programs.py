"""A pytest plugin: tests start only programs of scripts/tools.txt, which set-up installs.

Two guards. An audit hook compares each program that the test process starts with the table; a test
that starts another program fails. Programs started by its children are not seen by the hook, but
the children find no others: for `tests/`, PATH is one folder of links to the programs of the table.
For `image/test` PATH is not changed, since mmdebstrap and Ansible call many programs of Debian.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from scripts import tools

ROOT = Path(__file__).resolve().parents[1]
# Programs that third-party libraries try to start and do not need.
TRIED = {
    "fc-list": "matplotlib: the fonts of this machine; it has its own",
}


def stray(program: str, known: Iterable[str], path: str = "", cwd: str = "") -> str | None:
    """`program` if it may not be started, else None.

    `known`: names that may. `path`: the PATH for the search. `cwd`: its working directory. Files
    below the clone or the temporary folder belong to the project or the test and are no tools.
    """
    name = os.path.basename(program)  # noqa: PTH119  # by its name as given: the target of a link has another name
    if name in known or program == sys.executable:
        return None
    place = Path(cwd or ".", program) if "/" in program else shutil.which(program, path=path)
    own = (ROOT, Path(tempfile.gettempdir()))
    if place and any(Path(place).absolute().is_relative_to(folder) for folder in own):
        return None
    return program


class Guard:
    """Compares started programs with the table, and records those without a row."""

    def __init__(self, roles: tuple[str, ...]) -> None:
        self.roles = roles
        self.known = {*tools.commands(*roles), *TRIED}
        self.strays: list[str] = []
        self.folder: Path | None = None
        self._path = os.environ.get("PATH", os.defpath)

    def notice(self, event: str, args: tuple[Any, ...]) -> None:
        """An audit hook (PEP 578)."""
        if event == "subprocess.Popen":
            program, _, cwd, environment = args
        elif event == "os.posix_spawn":
            (program, _, environment), cwd = args, None
        elif event == "os.system":
            program, cwd, environment = "sh", None, None
        else:
            return
        path = (os.environ if environment is None else environment).get("PATH", os.defpath)
        found = stray(os.fsdecode(program), self.known, path, os.fsdecode(cwd or ""))
        if found:
            self.strays.append(found)

    def missing(self) -> list[str]:
        """Programs of the table that are missing on this machine."""
        rows = tools.commands(*self.roles)
        return sorted(name for name in rows if tools.find(name, self._path) is None)

    def close_path(self) -> None:
        """Set PATH to a folder with only the programs of the table."""
        self.folder = Path(tempfile.mkdtemp(prefix="interlude-tools-"))
        self.folder.chmod(0o755)  # a test may start programs as another user
        for name in tools.commands(*self.roles):
            if found := tools.find(name, self._path):
                (self.folder / name).symlink_to(found)
        python = (
            self.folder / "python3"
        )  # python3 on PATH may be a script that calls other programs
        python.unlink(missing_ok=True)
        python.symlink_to(Path(sys.executable).resolve())
        os.environ["PATH"] = str(self.folder)

    def open_path(self) -> None:
        """Restore PATH."""
        if self.folder:
            os.environ["PATH"] = self._path
            shutil.rmtree(self.folder, ignore_errors=True)

    def said(self) -> str:
        """A sentence about the programs started without a row, once; '' if there were none."""
        names, self.strays = sorted(set(self.strays)), []
        if not names:
            return ""
        return (
            f"{', '.join(names)}: started, and no row of scripts/tools.txt for"
            f" {' or '.join(self.roles)}. Add one, with the package that has it."
        )


_GUARD = pytest.StashKey[Guard]()


def runs_boxes(config: pytest.Config) -> bool:
    """Whether this run is one of `image/test`."""
    places = [Path(config.invocation_params.dir, arg.partition("::")[0]) for arg in config.args]
    return any(place.resolve().is_relative_to(ROOT / "image") for place in places)


def pytest_configure(config: pytest.Config) -> None:
    boxes = runs_boxes(config)
    guard = Guard(("setup", "boxes", "image") if boxes else ("setup", "test"))
    config.stash[_GUARD] = guard
    if not boxes:
        guard.close_path()
    sys.addaudithook(guard.notice)


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_GUARD].open_path()


def pytest_report_header(config: pytest.Config) -> str:
    guard = config.stash[_GUARD]
    verb = "make test" if "test" in guard.roles else "make test-image"
    missing = guard.missing()
    return f"missing here, and installed by {verb}: {', '.join(missing)}" if missing else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if said := item.config.stash[_GUARD].said():
        if report.failed:
            report.sections.append(("programs", said))
        else:
            report.outcome, report.longrepr = "failed", said
    return report
