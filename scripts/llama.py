"""Builds the wheel of llama-cpp-python, which is published as source, and caches it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts import llama_source
from scripts.progress import Failed, follow

COMMON = (
    llama_source.INCLUDE,
    "-DGGML_OPENMP=ON",
)
GIB_A_JOB = 1.0  # memory for one compiler; llama.cpp's largest files take 0.7 GiB
_NEEDS_AVX2 = (
    "AVX",
    "AVX2",
    "BMI2",
    "FMA",
    "F16C",
)  # instruction sets that the portable x86 build assumes


def build_flags(machine: str = "", cpu_flags: str | None = None) -> tuple[str, ...]:
    """CMake's options for this machine, which are part of the wheel's cache key.

    Native on arm64: without the Cortex-A76's dot product, prefill is several times slower.
    Portable on x86: a native build crashes in the first matmul on CPUs with AMX under gcc 12.
    """
    machine = machine or platform.machine()
    if machine == "aarch64":
        return (*COMMON, "-DGGML_NATIVE=ON")
    flags = _cpu_flags() if cpu_flags is None else cpu_flags
    without_avx2 = (
        () if "avx2" in flags.split() else tuple(f"-DGGML_{name}=OFF" for name in _NEEDS_AVX2)
    )
    return (*COMMON, "-DGGML_NATIVE=OFF", *without_avx2)


def jobs(cores: int, available_gib: float) -> int:
    """The number of parallel compilers: one for each core if memory suffices, and at least one."""
    return max(1, min(cores, int(available_gib / GIB_A_JOB)))


def wheel(python: Path, lock: Path, logs: Path) -> Path:
    """Path of the wheel for `python`, from the cache or built now from the source that `lock`
    pins."""
    flags = build_flags()
    folder = cache(logs) / key(python, lock, flags)
    folder.mkdir(exist_ok=True)
    with _locked(folder / "lock"):
        if found := next(folder.glob("*.whl"), None):
            print(f"   already built: {found}", flush=True)
            return found
        count = jobs(len(os.sched_getaffinity(0)), _available_gib())
        print(f"   building with {count} at a time, about 3 core-minutes on a PC")
        print(f"   its log: {logs / 'llama-build.log'}", flush=True)
        for leftover in folder.glob("build-*"):  # of a build that was killed
            shutil.rmtree(leftover)
        # Not in /tmp, a tmpfs on Debian 13, nor in the checkout, whose path may contain spaces.
        with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
            _build(python, lock, flags, count, Path(scratch), logs / "llama-build.log")
            built = next(Path(scratch).glob("*.whl"))
            return built.rename(folder / built.name)


def _build(
    python: Path, lock: Path, flags: tuple[str, ...], count: int, scratch: Path, log: Path
) -> None:
    environment = {
        **os.environ,
        "CMAKE_ARGS": " ".join(flags),
        "CMAKE_BUILD_PARALLEL_LEVEL": str(count),
        "TMPDIR": str(scratch),
    }
    # scikit-build-core, which builds it, is one of the locked packages that `python` has.
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    follow(
        [*pip, "download", "--no-build-isolation", "--no-deps", "--no-binary", "llama-cpp-python",
         "--require-hashes", "--dest", str(scratch), "-r", str(lock)],
        log.with_name("llama-source.log"),
        progress,
        environment=environment,
    )  # fmt: skip
    source = llama_source.unpack(next(scratch.glob("*.tar.gz")), scratch / "source")
    # Without pip's cache, which may contain a wheel of this version built with other flags.
    follow(
        [*pip, "wheel", "-v", "--no-build-isolation", "--no-deps", "--no-cache-dir", "--wheel-dir",
         str(scratch), str(source)],
        log,
        progress,
        environment=environment,
    )  # fmt: skip


def progress(line: str) -> str | None:
    """The progress text for a line of pip's or ninja's output; None to show nothing new."""
    if step := re.match(r"\[(\d+)/(\d+)\]", line):
        return f"compiling [{step[1]}/{step[2]}]"
    if line.startswith(("Downloading", "Collecting llama")):
        return "fetching the source (77 MB)"
    return "preparing" if line.startswith("Preparing metadata") else None


def key(
    python: Path, lock: Path, flags: tuple[str, ...], patches: Path = llama_source.PATCHES
) -> str:
    """The wheel's cache key: version, Python, machine, and a hash of source, flags and patches."""
    code = "import sys, platform; print(sys.implementation.cache_tag, platform.machine(), sep='-')"
    tag = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    text = lock.read_text()
    version = re.search(r"llama-cpp-python==([\w.]+)", text)
    assert version, "the lock names no llama-cpp-python"
    source = re.findall(r"sha256:\w+", text)
    cpu = _cpu_flags() if "-DGGML_NATIVE=ON" in flags else ""
    libc = "-".join(platform.libc_ver())
    parts = (*source, *flags, cpu, libc, llama_source.digest(patches))
    fingerprint = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return f"llama-{version[1]}-{tag}-{fingerprint[:12]}"


def cache(fallback: Path) -> Path:
    """The user's cache folder if it is writable, else one in `fallback`. Raises Failed."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    for folder in (Path(base) / "interlude" / "wheels", fallback / "cache"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    raise Failed(f"neither {base} nor {fallback} can be written; name a folder: XDG_CACHE_HOME=…")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock file: a second build waits, and then finds the wheel in the cache."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _cpu_flags() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith(("flags", "features")):
            return line.partition(":")[2].strip()
    return ""


def _available_gib() -> float:
    """Available memory in GiB: the machine's, or the container's limit if that is less."""
    available = next(
        int(line.split()[1]) / 2**20
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemAvailable")
    )
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file() and (text := limit.read_text().strip()).isdigit():
        available = min(available, int(text) / 2**30)
    return available
