"""The environment of the compared programs: exactly the lock's packages, or a clear error."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest

from appliance.settings import load_defaults
from lab.bench import peers
from lab.bench.benches import BenchError, BenchOptions
from lab.bench.peer_environment import PROGRAMS, PeerEnvironment

WHEEL = "small-1.0-py3-none-any.whl"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A folder with one wheel, in place of PyPI."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr("small.py", "ANSWER = 42\n")
        about = "small-1.0.dist-info"
        metadata = "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n"
        wheel.writestr(f"{about}/METADATA", metadata + "Requires-Dist: missing-everywhere\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
                                         "Root-Is-Purelib: true\nTag: py3-none-any\n")  # fmt: skip
        wheel.writestr(f"{about}/RECORD", "")
    return folder


def without_network(index: Path) -> dict[str, str]:
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_CACHE_DIR": "1"}  # fmt: skip


def lock_of(tmp_path: Path, digest: str) -> Path:
    lock = tmp_path / "peers.lock"
    lock.write_text(f"small==1.0 \\\n    --hash=sha256:{digest}\n", encoding="utf-8")
    return lock


@pytest.mark.process
def test_it_holds_what_the_lock_names_and_no_dependency(tmp_path: Path, index: Path) -> None:
    lock = lock_of(tmp_path, hashlib.sha256((index / WHEEL).read_bytes()).hexdigest())
    home = PeerEnvironment(tmp_path / "home", lock)
    with pytest.raises(BenchError, match=r"not installed. `interlude bench peers --install`"):
        home.require()
    home.install(without_network(index))
    home.require()
    done = subprocess.run(
        [home.python, "-I", "-c", "import small; print(small.ANSWER)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "42\n"

    (index / WHEEL).unlink()
    home.install(without_network(index))  # it is complete: nothing is fetched
    lock.write_text(lock.read_text() + "# another\n")
    with pytest.raises(BenchError, match="not those of the lock file"):
        home.require()


@pytest.mark.process
def test_a_package_with_another_hash_is_refused(tmp_path: Path, index: Path) -> None:
    home = PeerEnvironment(tmp_path / "home", lock_of(tmp_path, "0" * 64))
    with pytest.raises(BenchError, match="cannot be installed: ERROR: THESE PACKAGES DO NOT MATCH"):
        home.install(without_network(index))
    with pytest.raises(BenchError, match="not installed"):
        home.require()


def test_without_it_the_bench_says_what_to_do(tmp_path: Path) -> None:
    home = PeerEnvironment(tmp_path / "none")
    with pytest.raises(BenchError, match=r"`interlude bench peers --install` installs them from"):
        peers.bench(BenchOptions(load_defaults()), home)
    assert not home.folder.exists()


def test_the_lock_names_the_compared_versions() -> None:
    versions = PeerEnvironment().versions()
    assert versions == {"pipecat-ai": "1.14.0", "livekit-agents": "1.8.9"}
    assert set(versions) == set(PROGRAMS)
