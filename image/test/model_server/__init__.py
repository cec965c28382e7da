"""A real model server for tests: llama.cpp's llama-server, built from the locked source, cached."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import llama_cpp

from lab.free_port import free_port
from scripts import llama

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
LOCK = ROOT / "requirements-llama.lock"
LIBRARIES = Path(llama_cpp.__file__).parent / "lib"
POCKET = ROOT / "appliance/models/pocket"
GEMMA_TEMPLATE = "google-gemma-4-31B-it.jinja"
START_S = 30.0


def built() -> Path:
    """A folder with `llama-server` and Gemma 4's chat template. The first build takes minutes."""
    recipe = LOCK.read_bytes() + (HERE / "CMakeLists.txt").read_bytes()
    made_of = hashlib.sha256(recipe + "-".join(platform.libc_ver()).encode()).hexdigest()[:12]
    folder = llama.cache(ROOT / "build") / f"llama-server-{platform.machine()}-{made_of}"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "llama-server").exists():
            with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
                _build(Path(scratch), folder)
    return folder


def _build(scratch: Path, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", LOCK, "-d", scratch], check=True)
    (archive,) = scratch.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(scratch / "source", filter="data")
    (source,) = scratch.glob("source/*/vendor/llama.cpp")
    subprocess.run(
        ["cmake", "-G", "Ninja", "-S", HERE, "-B", scratch / "build", f"-DSOURCE={source}",
         f"-DLIBRARIES={LIBRARIES}", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_SKIP_RPATH=ON",
         "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF"],
        check=True,
    )  # fmt: skip
    subprocess.run(["cmake", "--build", scratch / "build", "--target", "llama-server"], check=True)
    shutil.copy(source / "models/templates" / GEMMA_TEMPLATE, folder)
    (scratch / "build/llama-server").rename(folder / "llama-server")


@contextmanager
def running(folder: Path, *options: str, template: str = "thinks.jinja") -> Iterator[str]:
    """Run llama-server with the pocket model on the loopback interface; yields its URL.

    `folder` has the program and the chat template `template`.
    """
    port = free_port()
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [folder / "llama-server", "-m", POCKET / "pocket-text.gguf", "--host", "127.0.0.1",
             "--port", str(port), "-c", "2048", "-t", "1",
             "--chat-template-file", folder / template, *options],
            env={**os.environ, "LD_LIBRARY_PATH": str(LIBRARIES), "OMP_WAIT_POLICY": "passive"},
            stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _wait(server, f"http://127.0.0.1:{port}/health", folder / "server.log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait(10)


def _wait(server: subprocess.Popen[bytes], health: str, log: Path) -> None:
    deadline_s = time.monotonic() + START_S
    while server.poll() is None and time.monotonic() < deadline_s:
        try:
            if httpx.get(health).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"llama-server did not start: {log.read_text(errors='replace')[-2000:]}")
