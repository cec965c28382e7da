"""Set-up: the build flags for each machine, and how an interrupted set-up continues."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import llama, llama_source
from scripts.environment import Step, dependency_steps, digest, doing
from scripts.progress import Failed, follow, took


# ── llama.cpp ────────────────────────────────────────────────────────────────────────────────
def test_llama_is_built_for_the_native_processor_on_arm() -> None:
    assert "-DGGML_NATIVE=ON" in llama.build_flags("aarch64", "fp asimd asimddp")


def test_llama_is_built_portably_on_x86() -> None:
    flags = llama.build_flags("x86_64", "fpu avx avx2 fma amx_tile")
    assert "-DGGML_NATIVE=OFF" in flags
    assert not any("AVX2" in flag for flag in flags)


def test_an_x86_without_avx2_gets_a_build_without_it() -> None:
    assert {"-DGGML_AVX2=OFF", "-DGGML_FMA=OFF"} <= set(llama.build_flags("x86_64", "fpu sse4_2"))


@pytest.mark.parametrize("machine", ["aarch64", "x86_64"])
def test_only_the_libraries_that_the_box_needs_are_built(machine: str) -> None:
    assert f"-DCMAKE_PROJECT_llama_cpp_INCLUDE={llama_source.CMAKE.name}" in llama.build_flags(
        machine, "fp"
    )
    assert "set(LLAMA_BUILD_COMMON OFF)" in llama_source.CMAKE.read_text()


@pytest.mark.parametrize(
    ("cores", "gib", "jobs"),
    [(4, 7.5, 4), (4, 3.3, 3), (4, 1.6, 1), (4, 0.3, 1), (1, 16.0, 1), (32, 24.0, 24)],
)
def test_the_number_of_build_jobs_is_limited_by_memory(cores: int, gib: float, jobs: int) -> None:
    assert llama.jobs(cores, gib) == jobs


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("[12/193] /usr/bin/g++ -DGGML_BUILD -o x.o", "compiling [12/193]"),
        ("Downloading llama_cpp_python-0.3.36.tar.gz (76.6 MB)", "fetching the source (77 MB)"),
        ("-- Found Threads: TRUE", None),
    ],
)
def test_a_build_is_shown_as_progress_steps(line: str, shown: str | None) -> None:
    assert llama.progress(line) == shown


def test_wheels_go_into_the_clone_when_the_home_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert llama.cache(tmp_path / "clone") == tmp_path / "cache" / "interlude" / "wheels"
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert llama.cache(tmp_path / "clone") == tmp_path / "clone" / "cache"


# ── steps ────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def step(tmp_path: Path) -> Step:
    return Step("venv", "environment", digest("one"), tmp_path)


def test_a_step_is_done_once_its_work_has_succeeded(step: Step) -> None:
    assert not step.is_done()
    with doing(step):
        assert not step.is_done()
    assert step.is_done()


def test_a_step_that_was_interrupted_is_not_done(step: Step) -> None:
    with doing(step):
        pass
    with pytest.raises(KeyboardInterrupt), doing(step):
        raise KeyboardInterrupt
    assert not step.is_done()


def test_a_step_with_changed_inputs_is_not_done(step: Step) -> None:
    with doing(step):
        pass
    assert not replace(step, inputs=digest("two")).is_done()


def test_a_digest_depends_on_the_content_of_a_file_and_not_on_its_age(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("numpy")
    second.write_text("numpy")
    assert digest(first) == digest(second)
    second.write_text("scipy")
    assert digest(first) != digest(second)
    assert digest("ab", "c") != digest("a", "bc")


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    for name in ("room", "dev"):
        (tmp_path / f"requirements-{name}.lock").write_text(name)
    return tmp_path


@pytest.mark.parametrize("roles", [[], ["bench"]])
def test_the_demo_and_the_benches_install_no_development_packages(
    step: Step, locks: Path, roles: list[str]
) -> None:
    needed = dependency_steps(step, roles, locks)
    assert list(needed.values())[-1].name == "requirements-room.lock"  # the one that is installed


@pytest.mark.parametrize("roles", [["test"], ["check"], ["release"], ["boxes", "image"]])
def test_every_other_verb_needs_all_packages(step: Step, locks: Path, roles: list[str]) -> None:
    needed = dependency_steps(step, roles, locks)
    assert [lock.name for lock in needed.values()] == ["requirements-dev.lock"]


def test_an_environment_with_all_packages_suffices_for_the_demo(step: Step, locks: Path) -> None:
    [everything] = dependency_steps(step, ["test"], locks)
    with doing(everything):
        pass
    assert any(done.is_done() for done in dependency_steps(step, [], locks))
    (locks / "requirements-dev.lock").write_text("another version")
    assert not any(done.is_done() for done in dependency_steps(step, [], locks))


# ── programs ─────────────────────────────────────────────────────────────────────────────────
@pytest.mark.process
def test_a_program_that_fails_shows_the_end_of_its_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "print(*range(1000), 'no room', sep='\\n'); raise SystemExit(3)"
    with pytest.raises(Failed, match=r"exited with 3.*log"):
        follow([sys.executable, "-c", program], tmp_path / "log")
    printed = capsys.readouterr().err
    assert "no room" in printed
    assert len(printed.splitlines()) == 25
    assert len((tmp_path / "log").read_text().splitlines()) == 1001


@pytest.mark.process
def test_a_successful_program_prints_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    follow([sys.executable, "-c", "print('a wall of text')"], tmp_path / "log")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.0, "59 s"), (200.0, "3 min 20 s")]
)
def test_a_duration_is_formatted_in_minutes_and_seconds(seconds: float, words: str) -> None:
    assert took(seconds) == words


@pytest.mark.process
def test_an_interrupted_set_up_ends_its_child_processes(tmp_path: Path) -> None:
    child = "import os, subprocess; p = subprocess.Popen(['sleep', '60']); print(p.pid); p.wait()"
    pids: list[int] = []

    def interrupt(line: str) -> None:
        pids.append(int(line))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        follow([sys.executable, "-u", "-c", child], tmp_path / "log", interrupt)
    deadline = time.monotonic() + 10
    while alive(pids[0]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pids[0])


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
