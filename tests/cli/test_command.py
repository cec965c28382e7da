"""The command: help for every verb, one sentence for every trouble, the right exit code."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from appliance.__main__ import main
from appliance.cli import tell
from appliance.messages.commands import Restart
from appliance.runtime import factory_reset
from appliance.settings import load
from tests.package import copy_package

pytestmark = pytest.mark.process

VERBS = ["run", "demo", "rehearse", "bench", "say", "ask", "stop", "mute", "volume", "voice",
         "mode", "check", "status", "config", "models", "enrol", "panel", "light", "memory",
         "link", "release", "system", "voices"]  # fmt: skip
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test sees the settings of whoever runs it, and the next has its own way with SIGTERM."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("INTERLUDE_TRACEBACK", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


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
def test_every_verb_has_help_and_takes_settings(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert "--settings FILE" in capsys.readouterr().out


def test_the_help_names_every_verb_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert re.findall(r"^    (\w+)  ", text, re.MULTILINE) == VERBS
    assert "examples:" in text


def test_help_imports_nothing_heavy() -> None:
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


def test_config_changed_prints_only_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("card: {period_ms: 4}\n")
    assert main(["config", "--changed", "--settings", str(mine)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("#")[0].strip() for line in lines[1:]] == ["card.period_ms: 4"]


def test_a_reader_that_goes_away_is_no_fault_of_ours() -> None:
    config = f"{shlex.quote(sys.executable)} -m appliance config"
    command = f"{config} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) in {("141", ""), ("0", "")}


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("verb", [["run"], ["demo"], ["check"], ["config"], ["models", "list"]])
def test_settings_with_an_error_are_one_sentence_and_78(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("crad: {period_ms: 4}\n")
    code, said = fails([*verb, "--settings", mine], capsys)
    assert code == 78
    assert "there is no setting `crad`. Did you mean `card`?" in said


def test_settings_that_are_not_there_are_one_sentence_and_78(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fails(["config", "--settings", tmp_path / "gone.yaml"], capsys)[0] == 78


def test_a_process_that_does_not_exist_is_said_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("processes: {tinker: {nice: 1}}\n")
    code, said = fails(["run", "--settings", mine], capsys)
    assert code == 78
    assert "there is no such process" in said


def test_a_scene_that_is_not_there_is_one_sentence_and_65(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fails(["rehearse", tmp_path / "gone.yaml"], capsys)[0] == 65


def test_a_model_that_does_not_exist_is_one_sentence_and_66(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, said = fails(["models", "fetch", "gemma-4-e2"], capsys)
    assert code == 66
    assert "Did you mean `gemma-4-e2b`?" in said


def test_a_traceback_is_shown_only_to_who_asks(tmp_path: Path) -> None:
    owner = interlude("config", "--settings", tmp_path)
    developer = interlude("config", "--settings", tmp_path, INTERLUDE_TRACEBACK="1")
    assert "Traceback" not in owner.stderr
    assert "Traceback" in developer.stderr
    assert owner.returncode == developer.returncode == 78


# ── run ──────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_the_box_stops_in_order_when_told_to(
    how: signal.Signals, code: int, tmp_path: Path
) -> None:
    """Without a sound card: its parts say so in the log, and it runs, and stops, all the same."""
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


class Told:
    """What the box tells systemd: one note a datagram."""

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
    """Of a box of its own, without a sound card and without a model."""
    mine = tmp_path / "mine.yaml"
    state = tmp_path / "own"
    state.mkdir()
    mine.write_text(
        f"card: {{capture: nowhere, playback: nowhere}}\nlanguage: en\nstate_dir: {state}\n"
    )
    return mine


def begin(mine: Path, log: Path, **environment: str) -> subprocess.Popen[str]:
    with log.open("w") as lines:
        return subprocess.Popen(
            [sys.executable, "-m", "appliance", "run", "--settings", str(mine)],
            cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL,
            stderr=lines, text=True,
        )  # fmt: skip


def comes(true: Callable[[], object], within_s: float = 60.0) -> bool:
    end = time.monotonic() + within_s
    while not (found := true()):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return bool(found)


def test_a_restart_under_systemd_is_an_end_in_order_and_no_stop(
    settings_file: Path, tmp_path: Path
) -> None:
    """STOPPING=1 would arm TimeoutStopSec, and the next READY=1 would not be heard."""
    told, log = Told(tmp_path / "notify"), tmp_path / "log"
    box = begin(settings_file, log, NOTIFY_SOCKET=str(tmp_path / "notify"))
    try:
        assert comes(lambda: "conductor is up" in log.read_text())
        tell.send_command(load(settings_file), Restart())
        assert box.wait(30.0) == 0
        assert "restart requested" in log.read_text()
        assert "STOPPING=1" not in told.look()
        assert "WATCHDOG=1" in told.notes
    finally:
        box.kill()
        box.wait()
        told.close()


def test_a_stop_under_systemd_is_told_as_one(settings_file: Path, tmp_path: Path) -> None:
    told, log = Told(tmp_path / "notify"), tmp_path / "log"
    box = begin(settings_file, log, NOTIFY_SOCKET=str(tmp_path / "notify"))
    try:
        assert comes(lambda: "conductor is up" in log.read_text())
        box.terminate()
        assert box.wait(30.0) == 0
        assert "STOPPING=1" in told.look()
    finally:
        box.kill()
        box.wait()
        told.close()


def test_a_restart_without_systemd_is_the_same_process_anew_with_nothing_left_open(
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


def test_a_reset_that_is_under_way_is_finished_before_any_part_runs(
    settings_file: Path, tmp_path: Path
) -> None:
    state, log = load(settings_file).state_path(), tmp_path / "log"
    (state / "timers").mkdir(parents=True)
    factory_reset.request_reset(state)
    box = begin(settings_file, log)
    try:
        assert comes(lambda: "conductor is up" in log.read_text())
        text = log.read_text()
        assert text.index("everything of the owner's on this box is erased") < text.index(" is up")
        assert not (state / "timers").exists()
    finally:
        box.terminate()
        assert box.wait(30.0) == 0


@pytest.mark.parametrize(
    "words", [["demo"], ["rehearse", "a.yaml"], ["bench", "stop", "--events", "3"]]
)
def test_without_the_lab_its_verbs_say_where_they_are(tmp_path: Path, words: list[str]) -> None:
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
