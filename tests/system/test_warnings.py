"""The script that saves the log's warnings on the card: all of them, within limits."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.system.test_scripts import SCRIPTS, script

pytestmark = pytest.mark.process

PATIENCE_S = 20.0
CAT, WC, SLEEP = (shutil.which(tool) for tool in ("cat", "wc", "sleep"))


class Log:
    """The script with a journal made of files: each pass reads the next file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "warnings.log"
        self._passes = 0
        script(
            folder / "journalctl",
            f'echo "$*" >>{folder}/asked; n=$(wc -l <{folder}/asked); '
            f"[ -e {folder}/pass$n ] && cat {folder}/pass$n",
        )
        for tool in ("sleep", "stat", "head", "wc", "date", "cat", "rm", "mv"):
            real = "exit 0" if tool == "sleep" else f'exec {shutil.which(tool)} "$@"'
            script(folder / "bin" / tool, f"echo {tool} >>{folder}/used; {real}")

    def says(self, *passes: str) -> None:
        """Add the output of the next passes; after the last one journalctl fails."""
        for text in passes:
            self._passes += 1
            (self.folder / f"pass{self._passes}").write_text(text)

    def environment(self, **changes: object) -> dict[str, str]:
        own = {
            "LOGS_DIRECTORY": self.folder,
            "RUNTIME_DIRECTORY": self.folder,
            "INTERLUDE_JOURNALCTL": self.folder / "journalctl",
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
        }
        return {**os.environ, **{key: str(value) for key, value in (own | changes).items()}}

    def run(self, **changes: object) -> int:
        return subprocess.run(
            [SCRIPTS / "warnings"], env=self.environment(**changes), check=False,
            timeout=PATIENCE_S, stderr=subprocess.DEVNULL,
        ).returncode  # fmt: skip

    def kept(self) -> list[str]:
        return self.file.read_text().splitlines()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def lines(first: int, last: int) -> str:
    return "".join(f"2026-01-01T00:00:00+0000 box part[1]: line {n}\n" for n in range(first, last))


def test_every_warning_is_saved_in_order(log: Log) -> None:
    log.says(lines(0, 100), "", lines(100, 101), lines(101, 150))
    assert log.run() == 1  # the failure of journalctl, which systemd must see
    assert log.kept() == lines(0, 150).splitlines()


def test_only_new_lines_are_read_even_after_a_restart(log: Log) -> None:
    log.says("one\n", "two\n")
    log.run()
    log.run()
    asked = set((log.folder / "asked").read_text().splitlines())
    (arguments,) = asked
    assert f"--cursor-file={log.folder}/cursor" in arguments
    assert "--priority=warning" in arguments
    assert "--follow" not in arguments


def test_the_two_files_never_exceed_their_size(log: Log) -> None:
    log.says(*(lines(n, n + 2) for n in range(0, 100, 2)))
    log.run(INTERLUDE_LOG_BYTES=300, INTERLUDE_LOG_DAY_BYTES=10**9)
    sizes = [path.stat().st_size for path in log.folder.glob("warnings.log*")]
    assert len(sizes) == 2
    assert max(sizes) <= 300
    assert log.kept()[-1].endswith("line 99")


def test_the_beginning_of_a_flood_is_saved_and_the_rest_is_counted(log: Log) -> None:
    flood = lines(0, 100_000)
    log.says(flood, flood, "the last one\n")
    log.run()
    first, then = (log.folder / "warnings.log.1").read_text(), log.file.read_text()
    assert first[:262_144] == flood[:262_144]
    assert f"{len(flood) - 262_144} bytes of them are left out" in first
    share = 4_194_304 * 30 // 86_400
    assert then.startswith(flood[:share])
    assert f"{len(flood) - share} bytes of them are left out" in then
    assert then.endswith("the last one\n")
    assert len(first) + len(then) < 262_144 + share + 300


def test_a_day_of_a_flood_is_limited_to_the_share_of_a_day(log: Log) -> None:
    """With one pass every 6 h, so that four passes make a day, and one megabyte in each pass."""
    log.says(*(lines(0, 20_000) for _ in range(5)))
    script(log.folder / "bin/cat", f"case $1 in *new) {WC} -c <$1 >>{log.folder}/written ;; esac; "
           f'exec {CAT} "$@"')  # fmt: skip
    log.run(
        INTERLUDE_LOG_EVERY_S=21_600, INTERLUDE_LOG_BYTES=200_000, INTERLUDE_LOG_DAY_BYTES=400_000
    )
    written = [int(size) for size in (log.folder / "written").read_text().split()]
    assert [round(size, -3) for size in written] == [200_000, *[100_000] * 4]


def test_a_single_line_costs_no_process_and_no_write(log: Log) -> None:
    log.says(lines(0, 2000))
    log.run()
    used = (log.folder / "used").read_text().split()
    assert len(used) < 20
    assert used.count("cat") == 2  # one for the journal and one that writes to the card
    assert len(log.kept()) == 2000


def until(condition: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_a_stop_writes_pending_lines_at_once(log: Log) -> None:
    log.says("one\n", "two\n")
    script(log.folder / "bin/sleep", f": >{log.folder}/sleeps; exec {SLEEP} 60")
    running = subprocess.Popen([SCRIPTS / "warnings"], env=log.environment())
    until((log.folder / "sleeps").exists)
    assert log.kept() == ["one"]
    running.send_signal(signal.SIGTERM)
    assert running.wait(PATIENCE_S) == 0
    assert log.kept() == ["one", "two"]


def test_a_write_error_ends_the_script_with_a_failure(log: Log) -> None:
    log.says("one\n", "two\n")
    script(log.folder / "bin/cat", "exit 1")
    assert log.run() != 0
    assert len((log.folder / "asked").read_text().splitlines()) == 1, "no second pass"


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("name", ["warnings.log", "warnings.log.1", "new", "failed", "cursor"])
@pytest.mark.parametrize("plant", [Path.mkdir, _link_to_itself], ids=["folder", "link loop"])
def test_what_is_not_a_file_under_a_files_name_is_removed(
    log: Log, plant: Callable[[Path], None], name: str
) -> None:
    plant(log.folder / name)
    log.says("one\n", "two\n")
    log.run(INTERLUDE_LOG_BYTES=7)
    assert log.kept() == ["two"]
    assert (log.folder / "warnings.log.1").read_text() == "one\n"


def test_a_cursor_that_journalctl_rejects_is_removed(log: Log) -> None:
    """A power cut or a person may damage the file. The next start saves warnings again."""
    script(
        log.folder / "journalctl",
        f"if [ -s {log.folder}/cursor ]; then exit 1; fi; "
        f"[ -e {log.folder}/told ] && exit 1; echo told >{log.folder}/told; echo one",
    )
    (log.folder / "cursor").write_text("no cursor at all\n")
    assert log.run() == 1
    assert not log.file.exists()
    assert log.run() == 1
    assert log.kept() == ["one"]
