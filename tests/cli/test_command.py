"""The command: help for every command, one sentence for every error, and the right exit code."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from appliance.__main__ import main
from appliance.cli import tell
from appliance.messages.commands import Restart
from appliance.runtime import factory_reset
from appliance.settings import load
from tests.package import copy_package
from tests.waiting import until

pytestmark = pytest.mark.process

VERBS = ["run", "demo", "rehearse", "bench", "say", "ask", "stop", "mute", "volume", "voice",
         "mode", "check", "status", "config", "models", "enrol", "panel", "light", "memory",
         "link", "release", "system", "voices"]  # fmt: skip
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def isolated_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the settings of the user who runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("INTERLUDE_TRACEBACK", raising=False)


def interlude(*words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "appliance", *map(str, words)],
        cwd=ROOT, env={**os.environ, **more}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip


def fails(words: Sequence[str | Path], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    assert re.fullmatch(r"interlude: .*\n", captured.err), captured.err
    return code, captured.err


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help_and_accepts_settings(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert "--settings FILE" in capsys.readouterr().out


def test_the_help_lists_every_command_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert re.findall(r"^    (\w+)  ", text, re.MULTILINE) == VERBS
    assert "examples:" in text


def test_help_imports_no_large_package() -> None:
    look = (
        "import sys, appliance.__main__ as m; m.parser().format_help();"
        "print(sorted({'numpy', 'msgspec', 'yaml', 'rich', 'onnxruntime'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


# ── config ───────────────────────────────────────────────────────────────────────────────────
def test_config_prints_settings_that_can_be_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("card: {period_ms: 4}\n")
    assert main(["config", "--settings", str(mine)]) == 0
    printed = capsys.readouterr().out
    assert yaml.safe_load(printed)["card"]["period_ms"] == 4
    assert str(mine) in printed.splitlines()[0]


def test_config_changed_prints_only_changed_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("card: {period_ms: 4}\n")
    assert main(["config", "--changed", "--settings", str(mine)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("#")[0].strip() for line in lines[1:]] == ["card.period_ms: 4"]


def test_a_closed_output_pipe_is_no_error() -> None:
    config = f"{shlex.quote(sys.executable)} -m appliance config"
    command = f"{config} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) in {("141", ""), ("0", "")}


# ── errors ───────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("verb", [["run"], ["demo"], ["check"], ["config"], ["models", "list"]])
def test_invalid_settings_give_one_sentence_and_exit_code_78(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("crad: {period_ms: 4}\n")
    code, error = fails([*verb, "--settings", mine], capsys)
    assert code == 78
    assert "there is no setting `crad`. Did you mean `card`?" in error


def test_a_missing_settings_file_gives_one_sentence_and_exit_code_78(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fails(["config", "--settings", tmp_path / "gone.yaml"], capsys)[0] == 78


def test_an_unknown_process_is_reported_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("processes: {tinker: {nice: 1}}\n")
    code, error = fails(["run", "--settings", mine], capsys)
    assert code == 78
    assert "there is no such process" in error


def test_a_missing_scene_gives_one_sentence_and_exit_code_65(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fails(["rehearse", tmp_path / "gone.yaml"], capsys)[0] == 65


def test_an_unknown_model_gives_one_sentence_and_exit_code_66(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, error = fails(["models", "fetch", "gemma-4-e2"], capsys)
    assert code == 66
    assert "Did you mean `gemma-4-e2b`?" in error


def test_a_traceback_is_shown_only_on_request(tmp_path: Path) -> None:
    owner = interlude("config", "--settings", tmp_path)
    developer = interlude("config", "--settings", tmp_path, INTERLUDE_TRACEBACK="1")
    assert "Traceback" not in owner.stderr
    assert "Traceback" in developer.stderr
    assert owner.returncode == developer.returncode == 78


# ── signals ──────────────────────────────────────────────────────────────────────────────────
def test_sigterm_ends_a_command_by_an_exception_so_that_it_can_undo(tmp_path: Path) -> None:
    words = ("models", "take", "keywords-en", "tokens.txt", "--at", "0")  # waits for its input
    waits = subprocess.Popen(
        [sys.executable, "-m", "appliance", *words],
        cwd=ROOT, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}, stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    status = Path(f"/proc/{waits.pid}/status")

    def handles_sigterm() -> int:
        caught = status.read_text().partition("SigCgt:")[2].split()[0]
        return int(caught, 16) & 1 << signal.SIGTERM - 1

    until(handles_sigterm)
    waits.terminate()
    assert (waits.communicate()[1], waits.returncode) == (b"", 128 + signal.SIGTERM)


def test_a_command_leaves_the_handler_of_sigterm_as_it_found_it() -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert main(["config"]) == 0
    assert signal.getsignal(signal.SIGTERM) == before


# ── run ──────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_the_box_stops_cleanly_on_a_signal(how: signal.Signals, code: int, tmp_path: Path) -> None:
    """Without a sound card, which its processes log, the box still runs and stops."""
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "card: {capture: nowhere, playback: nowhere}\nlanguage: en\nspeaking: {voice: espeak}\n"
    )
    box = subprocess.Popen(
        [sys.executable, "-m", "appliance", "run", "--settings", str(mine)],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert box.stderr is not None
    seen = []
    for line in box.stderr:
        seen.append(line)
        if "is up" in line:
            break
    box.send_signal(how)
    start = time.monotonic()
    _, rest = box.communicate(timeout=40)
    assert box.returncode == code, "".join(seen) + rest
    assert time.monotonic() - start < 30
    assert "Traceback" not in "".join(seen) + rest


class NotifySocket:
    """Receives what the box sends to systemd: one notification per datagram."""

    def __init__(self, path: Path) -> None:
        self.notes: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.setblocking(False)

    def look(self) -> list[str]:
        while True:
            try:
                self.notes += self._socket.recv(4096).decode().splitlines()
            except BlockingIOError:
                return self.notes

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    """Settings of a separate box without a sound card and without a model."""
    mine = tmp_path / "mine.yaml"
    state = tmp_path / "own"
    state.mkdir()
    mine.write_text(
        "card: {capture: nowhere, playback: nowhere}\nlanguage: en\nspeaking: {voice: espeak}\n"
        f"state_dir: {state}\n"
    )
    return mine


def begin(mine: Path, log: Path, **environment: str) -> subprocess.Popen[str]:
    with log.open("w") as lines:
        return subprocess.Popen(
            [sys.executable, "-m", "appliance", "run", "--settings", str(mine)],
            cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL,
            stderr=lines, text=True,
        )  # fmt: skip


def comes(condition: Callable[[], object], within_s: float = 60.0) -> bool:
    end = time.monotonic() + within_s
    while not (found := condition()):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return bool(found)


def test_a_restart_under_systemd_ends_the_process_without_announcing_a_stop(
    settings_file: Path, tmp_path: Path
) -> None:
    """STOPPING=1 would arm TimeoutStopSec, and systemd would ignore the next READY=1."""
    notify, log = NotifySocket(tmp_path / "notify"), tmp_path / "log"
    box = begin(settings_file, log, NOTIFY_SOCKET=str(tmp_path / "notify"))
    try:
        assert comes(lambda: "conductor is up" in log.read_text())
        tell.send_command(load(settings_file), Restart())
        assert box.wait(30.0) == 0
        assert "restart requested" in log.read_text()
        assert "STOPPING=1" not in notify.look()
        assert "WATCHDOG=1" in notify.notes
    finally:
        box.kill()
        box.wait()
        notify.close()


def test_a_stop_under_systemd_is_announced(settings_file: Path, tmp_path: Path) -> None:
    notify, log = NotifySocket(tmp_path / "notify"), tmp_path / "log"
    box = begin(settings_file, log, NOTIFY_SOCKET=str(tmp_path / "notify"))
    try:
        assert comes(lambda: "conductor is up" in log.read_text())
        box.terminate()
        assert box.wait(30.0) == 0
        assert "STOPPING=1" in notify.look()
    finally:
        box.kill()
        box.wait()
        notify.close()


def test_a_restart_without_systemd_keeps_the_process_and_leaves_no_file_open(
    settings_file: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"

    def opened() -> list[str]:
        links = Path(f"/proc/{box.pid}/fd").iterdir()
        return sorted(re.sub(r"\d+", "", str(link.readlink())) for link in links)

    def times(line: str) -> int:
        return log.read_text().count(line)

    box = begin(settings_file, log)
    try:
        assert comes(lambda: times("conductor is up") == 1)
        assert comes(lambda: times("speaker is up") == 1)
        before = opened()
        tell.send_command(load(settings_file), Restart())
        assert comes(lambda: times("conductor is up") == 2)
        assert comes(lambda: times("speaker is up") == 2)
        assert comes(lambda: opened() == before, 5.0), (before, opened())
        box.terminate()
        assert box.wait(30.0) == 0
    finally:
        box.kill()
        box.wait()


def test_an_interrupted_reset_is_completed_before_any_process_starts(
    settings_file: Path, tmp_path: Path
) -> None:
    state, log = load(settings_file).state_path(), tmp_path / "log"
    timers = state / "timers/timers.json"
    timers.parent.mkdir(parents=True)
    timers.touch()
    factory_reset.request_reset(state)
    box = begin(settings_file, log)
    try:
        assert comes(lambda: "conductor is up" in log.read_text())
        text = log.read_text()
        assert text.index("everything of the owner's on this box is erased") < text.index(" is up")
        assert not timers.exists()
    finally:
        box.terminate()
        assert box.wait(30.0) == 0


@pytest.mark.parametrize(
    "words", [["demo"], ["rehearse", "a.yaml"], ["bench", "stop", "--events", "3"]]
)
def test_without_the_lab_its_commands_explain_where_it_is(tmp_path: Path, words: list[str]) -> None:
    copy_package(tmp_path)
    code = (
        "import os, sys\n"
        "sys.path = [p for p in sys.path if not os.path.isdir(os.path.join(p, 'lab'))]\n"
        "sys.path.insert(0, sys.argv.pop(1))\n"
        "from appliance.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-P", "-c", code, str(tmp_path), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 69
    assert done.stderr.startswith("interlude: demo, rehearse and bench simulate a room")
    assert "make demo" in done.stderr
