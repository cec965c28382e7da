"""A process in a domain, and its children, can do what the domain lists and nothing else."""

from __future__ import annotations

import errno
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.runtime import landlock, sandbox
from tests import skips

pytestmark = pytest.mark.process

# What a child needs to start: Python and this tree. `files`: further rights, by path.
BEFORE = """
import errno, os, signal, socket, subprocess, sys
from pathlib import Path
import appliance
from appliance.runtime import landlock
from appliance.runtime.landlock import DEVICE, READ, START, WRITE, Domain
domain = Domain({files}, {ports})
system = ("/usr", "/lib", "/lib64", "/etc", "/proc", sys.prefix, sys.base_prefix)
domain.add(READ, [*map(Path, system), Path(appliance.__file__).parents[1]])
domain.add(DEVICE, [Path("/dev/null")])
assert landlock.enter(domain) == "", "it is not possible here"
def attempt(act):
    try:
        act()
    except OSError as error:
        print(errno.errorcode[error.errno], end=" ")
    else:
        print("done", end=" ")
"""


@pytest.fixture(autouse=True)
def here() -> None:
    if skips.lacks_landlock():
        pytest.skip(skips.LANDLOCK)


def child(code: str, files: str = "{}", ports: tuple[int, ...] = (), before: str = BEFORE) -> str:
    """The output of a process that enters the domain and runs `code`."""
    entered = before.format(files=files, ports=ports)
    done = subprocess.run(
        [sys.executable, "-c", entered + code], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name in ("read", "write", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("words")
    return tmp_path


def granted(folders: Path) -> str:
    return f"{{Path({str(folders / 'read')!r}): READ, Path({str(folders / 'write')!r}): WRITE}}"


ACTS = """
for name in ("read", "write", "other"):
    folder = Path({folders!r}) / name
    file = folder / "file"
    for act in ({acts}):
        attempt(lambda: act(folder, file))
"""


def outcomes(folders: Path, acts: str) -> list[str]:
    code = ACTS.format(folders=str(folders), acts=acts)
    return child(code, granted(folders)).split()


def test_a_folder_can_be_read_or_written_as_its_right_says(folders: Path) -> None:
    assert outcomes(folders, "lambda folder, file: file.read_text(),") == ["done", "done", "EACCES"]
    assert outcomes(folders, "lambda folder, file: list(folder.iterdir()),") == [
        "done", "done", "EACCES",
    ]  # fmt: skip
    for act in (
        "file.write_text('x')", "file.open('a')", "(folder / 'new').touch()",
        "os.truncate(file, 0)", "file.rename(folder / 'moved')", "(folder / 'made').mkdir()",
        "socket.socket(socket.AF_UNIX).bind(str(folder / 'socket'))",
    ):  # fmt: skip
        found = outcomes(folders, f"lambda folder, file: {act},")
        assert found == ["EACCES", "done", "EACCES"], act
    (folders / "write/file").touch()
    assert outcomes(folders, "lambda folder, file: file.unlink(),") == ["EACCES", "done", "EACCES"]


def test_no_file_of_a_forbidden_folder_can_be_replaced_or_taken(folders: Path) -> None:
    """By a rename, a hard link or a symbolic link from a folder that may be written."""
    code = f"""
folders = Path({str(folders)!r})
for target in (folders / "read/file", folders / "other/file"):
    attempt(lambda: (folders / "write/file").rename(target))
    attempt(lambda: target.rename(folders / "write/mine"))
    attempt(lambda: (folders / "write/link").hardlink_to(target))
    attempt(lambda: (folders / "write/symlink").symlink_to(target))
"""
    found = child(code, granted(folders)).split()
    assert set(found) <= {"EACCES", "EXDEV"}
    assert (folders / "read/file").read_text() == (folders / "other/file").read_text() == "words"
    assert [path.name for path in (folders / "write").iterdir()] == ["file"]


def test_a_symbolic_link_leads_to_no_forbidden_file(folders: Path) -> None:
    (folders / "write/link").symlink_to(folders / "other/file")
    code = f"attempt(lambda: Path({str(folders / 'write/link')!r}).read_text())"
    assert child(code, granted(folders)) == "EACCES"


def test_a_right_to_a_file_covers_no_file_beside_it(folders: Path) -> None:
    file = folders / "other/file"
    (folders / "other/beside").touch()
    code = f"""
attempt(lambda: Path({str(file)!r}).write_text("x"))
attempt(lambda: Path({str(file)!r}).with_name("beside").read_text())
"""
    assert child(code, f"{{Path({str(file)!r}): WRITE}}") == "done EACCES"


def test_only_listed_programs_can_be_started() -> None:
    code = """
attempt(lambda: subprocess.run(["/bin/true"]))
attempt(lambda: subprocess.run([sys.executable, "-c", "print('started', end=' ', flush=True)"]))
"""
    assert child(code) == "EACCES EACCES"
    python = """{path: START for path in __import__("appliance.runtime.places").runtime.places
    ._PROGRAMS["python"](None)}"""
    assert child(code, python.replace("\n", "")) == "EACCES started done"


def test_a_child_cannot_do_more_and_a_second_domain_gives_nothing_back(folders: Path) -> None:
    file = str(folders / "other/file")
    grandchild = f"open({file!r})"
    python = """**{path: START for path in __import__("appliance.runtime.places").runtime.places
    ._PROGRAMS["python"](None)}""".replace("\n", "")
    code = f"""
print(subprocess.run([sys.executable, "-c", {grandchild!r}], stderr=subprocess.PIPE, text=True)
      .stderr.strip().rpartition("\\n")[2])
second = Domain({{Path("/"): READ | WRITE | START}})
assert landlock.enter(second) == ""
attempt(lambda: open({file!r}))
"""
    found = child(code, f"{{{python}}}")
    assert "PermissionError" in found
    assert found.endswith("EACCES")


# ── TCP, signals, sockets ──────────────────────────────────────────────────────────────────────
@pytest.fixture
def ports() -> Iterator[tuple[int, int]]:
    """Two ports on which somebody listens."""
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    yield servers[0].getsockname()[1], servers[1].getsockname()[1]
    for server in servers:
        server.close()


def test_only_listed_tcp_ports_can_be_reached(ports: tuple[int, int]) -> None:
    if landlock.abi() < 4:
        pytest.skip(skips.LANDLOCK_SCOPES)
    code = f"""
for port in {ports}:
    attempt(lambda: socket.create_connection(("127.0.0.1", port), 5))
attempt(lambda: socket.socket().bind(("127.0.0.1", 47123)))
attempt(lambda: socket.socket().bind(("127.0.0.1", 0)))
"""
    assert child(code) == "EACCES EACCES EACCES EACCES"
    assert child(code, ports=ports[:1]) == "done EACCES EACCES done"


def test_signals_reach_only_the_process_itself_and_its_children() -> None:
    if landlock.abi() < 6:
        pytest.skip(skips.LANDLOCK_SCOPES)
    code = """
own = os.fork() or signal.pause()
for number in (0, signal.SIGCONT, signal.SIGTERM, signal.SIGKILL):
    attempt(lambda: os.kill(os.getppid(), number))
attempt(lambda: signal.pidfd_send_signal(os.pidfd_open(os.getppid()), signal.SIGKILL))
attempt(lambda: os.kill(own, signal.SIGKILL))
"""
    assert child(code) == "EPERM EPERM EPERM EPERM EPERM done"


def test_no_abstract_socket_of_another_program_can_be_reached() -> None:
    if landlock.abi() < 6:
        pytest.skip(skips.LANDLOCK_SCOPES)
    name = f"\0interlude-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        code = f"attempt(lambda: socket.socket(socket.AF_UNIX).connect({name!r}))"
        assert child(code) == "EPERM"
        allowed = BEFORE.replace("Domain({files}, {ports})", "Domain({{}}, (), True)")
        assert child(code, before=allowed) == "done"


# ── kernels ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("version", range(1, 8))
def test_files_are_protected_with_each_version_of_landlock(folders: Path, version: int) -> None:
    """Debian 12's kernel has version 2, a Pi's 4 to 6."""
    if landlock.abi() < version:
        pytest.skip(skips.LANDLOCK_SCOPES)
    before = BEFORE.format(files=granted(folders), ports="(1883,)").replace(
        'assert landlock.enter(domain) == "", "it is not possible here"',
        f"landlock._enter(domain, {version})",
    )
    acts = "lambda folder, file: file.read_text(), lambda folder, file: file.write_text('x'),"
    code = before + ACTS.format(folders=str(folders), acts=acts)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["done", "EACCES", "done", "done", "EACCES", "EACCES"]


def test_a_kernel_without_landlock_is_reported_and_the_process_goes_on(folders: Path) -> None:
    calls = replace(sandbox.MACHINES[platform.machine()], foreign_from=444)  # all from there on
    steps = sandbox.program(calls, None)
    code = f"""
from appliance.runtime import landlock, sandbox
sandbox.install({steps!r})
print(landlock.enter(landlock.Domain()))
print(open({str(folders / "other/file")!r}).read())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == (
        "the limits of files and programs (this kernel has no Landlock)\nwords\n"
    )


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.ENOSYS, "this kernel has no Landlock"),
        (errno.EOPNOTSUPP, "Landlock is switched off at boot"),
        (errno.EPERM, "Landlock is refused: Operation not permitted"),
    ],
)
def test_the_reason_why_landlock_is_missing_is_told_apart(number: int, why: str) -> None:
    assert landlock.why_not(OSError(number, os.strerror(number))) == why
