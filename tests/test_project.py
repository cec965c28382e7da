"""Rules for the whole project: imports, file sizes, test files, dependencies, licences."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance import __version__
from scripts import licences
from tests import mirrors, skips
from tests.imports import statements

ROOT = Path(__file__).parents[1]
APPLIANCE = ROOT / "appliance"
LAB = ROOT / "lab"
MODULES = sorted([*APPLIANCE.rglob("*.py"), *LAB.rglob("*.py")])

# Third-party package → the files that may import it. `*` matches any name in that folder.
FOREIGN = {
    "alsaaudio": ["audio/alsa.py"],
    "dbus_fast": ["provision/improv/bluez.py"],
    "fluent": ["language/fluent_file.py"],
    "gguf": ["models/audio_part.py", "lab/bench/model_weights.py"],
    "gpiod": ["panel/gpio_lines.py"],
    "gpiozero": ["panel/gpio.py", "panel/pin_factory.py"],
    "hibari": ["voice/hibari/*"],  # its text rules and its signal processing
    "hotato": ["lab/sim/hotato_judge.py"],
    "httpx": ["think/remote.py"],
    "httpx2": ["models/hub.py"],
    "huggingface_hub": ["models/hub.py"],
    "h11": ["page/http_server.py"],
    "jinja2": ["page/templates.py", "think/template_renderer.py"],
    "litert_lm": ["lab/bench/bakeoff_litert.py"],  # no dependency: installed by hand
    "livekit": ["lab/peers/*"],  # no dependency: in an environment of its own
    "llama_cpp": ["think/llama_library.py"],  # the model, its tokens and its state
    "loguru": ["lab/peers/pipecat_peer.py"],  # pipecat's log
    "matplotlib": ["sim/timeline.py", "bench/interruption_pictures.py"],
    # Small networks next to live audio, and the large audio encoder, which can be aborted.
    "onnxruntime": ["appliance/onnx_session.py", "think/streaming_encoder.py"],
    "pipecat": ["lab/peers/pipecat_peer.py"],  # like livekit
    "paho": ["mqtt/connection.py", "bench/mosquitto.py"],  # the box, and an observer
    "pocketsphinx": [
        "hear/words/pocketsphinx_backend.py", "voice/speech_aligner.py", "lab/bench/voice_judge.py",
    ],
    "psutil": ["sim/*", "bench/*"],
    "py3langid": ["language/identify.py"],
    "pymicro_wakeword": ["hear/words/microwakeword_backend.py"],
    "setproctitle": [
        "runtime/worker.py", "runtime/supervision/launcher_process.py", "__main__.py",
    ],
    "rich": ["cli/*", "runtime/diagnostics.py", "bench/*", "sim/*"],
    "ruamel": ["settings/owner_text.py"],
    "sdnotify": ["runtime/supervision/systemd_notify.py"],
    "sherpa_onnx": ["hear/words/sherpa_backend.py"],
    "soundfile": ["audio/sound_file.py", "sim/*"],
    "soxr": ["audio/sound_file.py", "voice/postprocess.py", "sim/*"],
    "sqlite3": ["dialog/memory.py", "runtime/memory_reader.py"],
    "yaml": [
        "cli/config.py", "models/catalogue.py", "provision/seed_files.py",
        "provision/seed_parsers.py", "provision/setup_state.py", "settings/loading.py", "sim/*",
    ],
}  # fmt: skip
ANYWHERE = {"msgspec", "numpy"}  # records and samples are used everywhere
# GPL (only a voice program in voices/ imports piper), for training only, or replaced by others.
NEVER = {"piper", "torch", "scipy", "onnx", "sounddevice", "pyaudio"}
MOST_LINES = 350
MOST_TEST_LINES = 400
LONG_TESTS = {"tests/system/test_fallback.py", "tests/system/test_units.py"}  # to be split


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """The top-level names of all packages that a file imports anywhere."""
    names = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif node.module and not node.level:
            names.add(node.module.split(".")[0])
    return frozenset(names)


def tracked() -> Iterator[Path]:
    """Yield every text file of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip(skips.CHECKOUT)
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in path.read_bytes()[:8000]:
            yield path


# ── the source ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("package", FOREIGN)
def test_a_third_party_package_is_imported_only_where_its_row_allows(package: str) -> None:
    users = [path.relative_to(ROOT) for path in MODULES if package in imports(path)]
    strays = [
        str(user) for user in users if not any(user.match(place) for place in FOREIGN[package])
    ]
    assert strays == []


def test_every_third_party_package_has_a_row() -> None:
    ours = {"appliance", "lab", *sys.stdlib_module_names}
    assert set().union(*map(imports, MODULES)) - ours <= FOREIGN.keys() | ANYWHERE


def test_no_module_imports_a_package_that_it_must_not_use() -> None:
    assert {str(path): found for path in MODULES if (found := imports(path) & NEVER)} == {}


def test_no_module_exceeds_the_line_limit() -> None:
    lines = {str(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_no_module_has_a_catch_all_name() -> None:
    catch_all_names = {"utils", "util", "helpers", "common", "base", "manager", "misc"}
    assert [str(path) for path in MODULES if {path.stem, path.parent.name} & catch_all_names] == []


def test_no_except_clause_silently_ignores_every_error() -> None:
    all_errors = {None, "Exception", "BaseException"}
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        if re.search(r"\bpass\b", text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ExceptHandler) and isinstance(node.body[0], ast.Pass)
        if (ast.unparse(node.type) if node.type else None) in all_errors
    ]
    assert silent == []


@pytest.mark.process
def test_no_file_contains_a_path_of_a_developers_machine() -> None:
    home = re.compile(r"(?<![\w.~$])/(?:work|home/(?!a\b|b\b|pi\b)\w+|root|Users)/\w")
    named = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in tracked()
        if (found := home.search(path.read_text(encoding="utf-8", errors="replace")))
    ]
    assert named == []


# ── the tests ────────────────────────────────────────────────────────────────────────────────
def test_every_module_has_a_test_file_of_its_name_or_a_row() -> None:
    without_file = {
        name for name in mirrors.modules() if not (ROOT / mirrors.mirror(name)).exists()
    }
    assert sorted(without_file - mirrors.ELSEWHERE.keys()) == []


def test_a_row_is_for_a_module_without_a_test_file_and_names_an_existing_one() -> None:
    modules = set(mirrors.modules())
    for module, where in mirrors.ELSEWHERE.items():
        assert module in modules
        assert not (ROOT / mirrors.mirror(module)).exists(), f"{module} has its test file now"
        assert not where.startswith("tests/") or (ROOT / where).exists(), where


def test_only_the_named_test_files_exceed_the_line_limit() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "tests").rglob("*.py")
    }
    assert {path for path, count in lengths.items() if count > MOST_TEST_LINES} == LONG_TESTS


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("appliance/errors.py", "tests/test_errors.py"),
        ("appliance/hear/aec/kalman.py", "tests/hear/aec/test_kalman.py"),
        ("lab/sim/scene.py", "tests/lab/sim/test_scene.py"),
    ],
)
def test_the_path_of_a_test_file_follows_from_its_modules_path(module: str, place: str) -> None:
    assert mirrors.mirror(module) == place


# ── the package ──────────────────────────────────────────────────────────────────────────────
def test_the_changelog_has_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)
    assert __version__ in versions


def test_every_declared_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[=<>]", need)[0] for need in project["dependencies"]}
    locked = set().union(
        *(licences.locked((ROOT / lock).read_text()) for lock in licences.BOX_LOCKS)
    )
    assert {name.lower().replace("_", "-") for name in declared} <= locked


@pytest.mark.parametrize(
    "lock",
    [
        "requirements.lock",
        "requirements-room.lock",
        "requirements-dev.lock",
        "requirements-llama.lock",
        "lab/bench/peers-requirements.lock",
    ],
)
def test_every_locked_version_has_hashes_and_no_url(lock: str) -> None:
    text = (ROOT / lock).read_text()
    entries = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text
    assert not re.search(r"^\s*(-i|--index|--extra-index|--find-links|-f)\b", text, re.MULTILINE)


def test_each_lock_contains_the_pins_of_the_smaller_one() -> None:
    def pins(lock: str) -> set[str]:
        return set(re.findall(r"^[a-z0-9-]+==\S+(?: ; [^\\\n]+)?", (ROOT / lock).read_text(), re.M))

    assert (
        pins("requirements.lock") < pins("requirements-room.lock") < pins("requirements-dev.lock")
    )


# ── licences ─────────────────────────────────────────────────────────────────────────────────
PAGE = "## Python packages on the box\n\n| {} | {} | |\n"


def test_every_dependency_has_a_licence_row_and_every_row_a_dependency() -> None:
    assert licences.main() == 0


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (PAGE.format("other", "MIT"), "numpy is locked, but has no row"),
        (PAGE.format("numpy", "GPL-3.0-or-later"), "the box may not depend on it"),
        (PAGE.format("numpy", "AGPL-3.0"), "the box may not depend on it"),
    ],
)
def test_a_missing_or_unsuitable_licence_is_reported(page: str, text: str) -> None:
    assert any(text in problem for problem in licences.problems(page, {"numpy"}, set()))


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("License: GPL-3.0-or-later", True),
        ("License-Expression: AGPL-3.0-only", True),
        ("Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)", True),
        ("License-Expression: LGPL-2.1-or-later", False),
        ("License: GNU Lesser General Public License v2", False),
        ("License-Expression: BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1", False),
        ("License: MIT", False),
    ],
)
def test_a_package_with_gpl_metadata_is_refused_for_a_release(
    tmp_path: Path, text: str, forbidden: bool
) -> None:
    metadata = tmp_path / "some-1.0.dist-info/METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: some\n{text}\n\nText of GPL things.\n")
    assert bool(licences.copyleft(tmp_path)) == forbidden


def test_in_the_test_environment_only_the_voice_program_is_gpl() -> None:
    found = licences.copyleft(Path(np.__file__).parents[1])
    assert [sentence.split()[0] for sentence in found] == ["piper-tts"]


@pytest.mark.parametrize("licence", ["BSD-3-Clause", "LGPL-2.1-or-later"])
def test_a_suitable_licence_is_accepted(licence: str) -> None:
    assert licences.problems(PAGE.format("numpy", licence), {"numpy"}, set()) == []
