"""Builds and caches the wheels for the Pi that are not published. Out: wheel files.

llama-cpp-python   by CMake with a cross compiler, for the Cortex-A76's dot product and half floats,
                   from its patched source
pyalsaaudio        one C file, against the headers and libraries of the Pi's Debian
sdnotify           pure Python
pip downloads the sources and checks the hashes of the locks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from image import archives
from image.plan import PYTHON, ROOT, TRIPLET, NotBuilt, Plan, once, remove
from image.tools import ask, quietly
from scripts import llama_source
from scripts.llama import COMMON, jobs, progress
from scripts.progress import Failed

CPU = "armv8.2-a+dotprod+fp16"  # the Pi 5's
FLAGS = (
    *COMMON,
    "-DGGML_NATIVE=OFF",
    f"-DGGML_CPU_ARM_ARCH={CPU}",
)
_TOOLCHAIN = f"""set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER {TRIPLET}-gcc)
set(CMAKE_CXX_COMPILER {TRIPLET}-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
"""
_HEADERS = ("libasound2-dev", "libasound2t64", f"libpython{PYTHON}-dev")
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
_REMEDY = (
    "Its output above says what is missing; the tools are g++-aarch64-linux-gnu, cmake, ninja."
)
SOURCES = ("pyalsaaudio", "sdnotify")  # rows of requirements.lock without a wheel for the Pi


def make(plan: Plan) -> list[Path]:
    """Build each wheel, or take it from the cache. Raises NotBuilt."""
    llama = once(
        plan.cache,
        "llama",
        _pinned("llama-cpp-python", *FLAGS, llama_source.digest()),
        lambda to: _llama(plan, to),
    )
    alsa = once(
        plan.cache, "pyalsaaudio", _pinned("pyalsaaudio", PYTHON), lambda to: _alsaaudio(plan, to)
    )
    pure = once(plan.cache, "sdnotify", _pinned("sdnotify"), lambda to: _sdnotify(plan, to))
    return [next(folder.glob("*.whl")) for folder in (llama, alsa, pure)]


def requirement(name: str) -> str:
    """The lines of a lock that pin `name` with its hashes. Raises NotBuilt."""
    for lock in ("requirements.lock", "requirements-llama.lock"):
        text = (ROOT / lock).read_text()
        if found := re.search(rf"^{name}==[^\n\\]*(?:\\\n[^\n\\]*)*", text, re.MULTILINE):
            return found[0] + "\n"
    raise NotBuilt(f"No lock names {name}.", "Run `make lock`.")


def _pinned(name: str, *more: str) -> Sequence[str]:
    compiler = ask("There is no compiler for the Pi", f"{TRIPLET}-g++", "--version")
    return (requirement(name), compiler.splitlines()[0], *more)


def _fetch(plan: Plan, name: str, into: Path) -> Path:
    """Download the source archive of `name` with pip, which checks its hash. Raises NotBuilt."""
    into.mkdir(parents=True, exist_ok=True)
    requirements_file = into / "wanted.txt"
    requirements_file.write_text(requirement(name))
    quietly(f"{name} cannot be fetched", "Is the package index reachable?",
            plan.logs / f"{name}.log",
            *_PIP, "download", "--no-deps", "--no-binary", name, "--require-hashes",
            "--dest", into, "-r", requirements_file)  # fmt: skip
    return next(into.glob("*.tar.gz"))


def _llama(plan: Plan, to: Path) -> None:
    scratch = to.with_name(".llama.build")
    remove(scratch)
    scratch.mkdir(parents=True)
    (scratch / "toolchain.cmake").write_text(_TOOLCHAIN)
    source = _llama_source(_fetch(plan, "llama-cpp-python", scratch / "fetched"), scratch)
    memory_gib = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    flags = (f"-DCMAKE_TOOLCHAIN_FILE={scratch}/toolchain.cmake", *FLAGS)
    environment = {
        "CMAKE_ARGS": " ".join(flags),
        "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs(len(os.sched_getaffinity(0)), memory_gib)),
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",  # what the wheel is named after
        "TMPDIR": str(scratch),
        # No path of the build in the debug information, so that the wheel is reproducible.
        "CFLAGS": f"-ffile-prefix-map={scratch}=.",
        "CXXFLAGS": f"-ffile-prefix-map={scratch}=.",
    }
    try:
        quietly("llama.cpp cannot be built for the Pi", _REMEDY, plan.logs / "llama.log",
                *_PIP, "wheel", "-v", "--no-build-isolation", "--no-deps", "--no-cache-dir",
                "--wheel-dir", to, source,
                environment=environment, progress=progress)  # fmt: skip
    finally:
        remove(scratch)


def _llama_source(archive: Path, scratch: Path) -> Path:
    """Unpack and patch the source. Raises NotBuilt."""
    try:
        return llama_source.unpack(archive, scratch / "source")
    except Failed as error:
        raise NotBuilt(
            f"llama.cpp cannot be patched: {error}.", "Update scripts/patches."
        ) from error


def _sdnotify(plan: Plan, to: Path) -> None:
    requirements_file = plan.work / "sdnotify.txt"
    requirements_file.write_text(requirement("sdnotify"))
    quietly("sdnotify cannot be built", _REMEDY, plan.logs / "sdnotify.log",
            *_PIP, "wheel", "--no-deps", "--require-hashes", "--wheel-dir", to,
            "-r", requirements_file)  # fmt: skip


def _alsaaudio(plan: Plan, to: Path) -> None:
    """Compile it with one call of gcc: its setup.py would use this machine's Python's settings."""
    scratch = plan.work / "pyalsaaudio"
    remove(scratch)
    archive = archives.Archives(plan.work / "apt", archives.sources(), plan.logs)
    archive.refresh()
    archive.unpack(_HEADERS, scratch / "debian", scratch / "debs")
    source = _fetch(plan, "pyalsaaudio", scratch)
    with tarfile.open(source) as tar:
        tar.extractall(scratch, filter="data")
    folder = next(path for path in scratch.glob("pyalsaaudio-*") if path.is_dir())
    library = folder / f"alsaaudio.cpython-{PYTHON.replace('.', '')}-{TRIPLET}.so"
    debian = scratch / "debian/usr"
    command = [
        f"{TRIPLET}-gcc", "-shared", "-fPIC", "-O2", "-fwrapv", "-march=armv8.2-a",
        f"-I{debian}/include", f"-I{debian}/include/python{PYTHON}",
        f"-I{debian}/include/{TRIPLET}", f"-I{debian}/include/{TRIPLET}/python{PYTHON}",
        folder / "alsaaudio.c", "-o", library, f"-L{debian}/lib/{TRIPLET}", "-l:libasound.so.2",
        "-s", "-Wl,--build-id=none", f"-ffile-prefix-map={scratch}=.",
    ]  # fmt: skip
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotBuilt(f"pyalsaaudio cannot be built: {done.stderr.strip()[-300:]}", _REMEDY)
    to.mkdir()
    _pack(to, folder, library)
    remove(scratch)


def _pack(into: Path, source: Path, library: Path) -> None:
    """Write a wheel (PEP 427) of one library, with a fixed file time."""
    name, _, version = source.name.partition("-")
    python = "cp" + PYTHON.replace(".", "")
    tag = f"{python}-{python}-linux_aarch64"
    dist_info = f"{name}-{version}.dist-info"
    files = {
        library.name: library.read_bytes(),
        f"{dist_info}/METADATA": (source / "PKG-INFO").read_bytes(),
        f"{dist_info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: interlude\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ).encode(),
    }
    record = "".join(
        f"{path},sha256={sha256(data).hexdigest()},{len(data)}\n" for path, data in files.items()
    )
    files[f"{dist_info}/RECORD"] = f"{record}{dist_info}/RECORD,,\n".encode()
    with zipfile.ZipFile(into / f"{name}-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data)
