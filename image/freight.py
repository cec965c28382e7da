"""Builds the release for the Pi, with its dependencies, on this machine. Out: an archive that is
not signed yet.

pip downloads the wheels that are published for aarch64, wheels.py builds the others, and the Pi's
own Python, emulated, compiles the sources. scripts/release.py makes the same on a machine like the
box.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

from appliance.errors import ReleaseRefused
from appliance.update.release import policy
from appliance.update.release.pack import pack
from image import inside
from image.plan import LIBC, MACHINE, PYTHON, ROOT, NotBuilt, Plan, once, remove
from image.tools import quietly
from image.wheels import SOURCES
from scripts import licences
from scripts.release import BESIDE, COMMAND, lay_beside

_LOCK = ROOT / "requirements.lock"
_DIGITS = PYTHON.replace(".", "")
# The wheels that run on the box: for its Python, for the stable ABI, and for every glibc up to its
# own. pip would compare a package's Requires-Python with this machine's Python, not the box's.
PIP = (
    sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
    "--no-compile", "--ignore-requires-python", "--only-binary=:all:",
    "--implementation=cp", f"--python-version={PYTHON}",
    f"--abi=cp{_DIGITS}", "--abi=abi3", "--abi=none",
    *(f"--platform=manylinux_2_{minor}_{MACHINE}" for minor in range(LIBC, 16, -1)),
    f"--platform=manylinux2014_{MACHINE}", f"--platform=linux_{MACHINE}",
)  # fmt: skip
_BOX_ENVIRONMENT = {
    "python_version": PYTHON,
    "python_full_version": f"{PYTHON}.5",
    "platform_machine": MACHINE,
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}


def make(plan: Plan, root: Path, wheels: list[Path]) -> Path:
    """Build the archive. `root`: a root file system with the Pi's Python. Raises NotBuilt."""
    inputs: list[str | bytes] = [
        plan.version,
        str(plan.time_s),
        *(wheel.name for wheel in wheels),
    ]
    inputs += [part for path in _sources() for part in (str(path), _content(path))]

    def write(path: Path) -> None:
        tree = plan.work / "release"
        remove(tree)
        path.mkdir()
        # The dependencies are cached apart from our own code, which changes more often.
        shutil.copytree(_dependencies(plan, root, wheels), tree, symlinks=True)
        _add_own_package(plan, tree)
        _compile(plan, tree, root, "/mnt/lib/appliance")
        if not any((tree / "lib/appliance/__pycache__").glob(f"*.cpython-{_DIGITS}.pyc")):
            log = plan.logs / "compile.log"
            raise NotBuilt("The Pi's Python compiled nothing.", f"Its output: {log}")
        try:
            pack(tree, path, version=plan.version, machine=MACHINE, python=PYTHON,
                 made_s=plan.time_s)  # fmt: skip
        except ReleaseRefused as error:
            raise NotBuilt(f"The release cannot be made: {error}") from error
        remove(tree)

    return next(once(plan.work, "release-packed", inputs, write).glob("*.release"))


def fitting(lock: str) -> str:
    """The rows of a lock that the box needs and that have a published wheel.

    The markers are evaluated for the box's Python; pip would evaluate them for this one.
    """
    rows = []
    for row in lock.replace("\\\n", " ").splitlines():
        text, *hashes = (part.strip() for part in row.split("--hash="))
        if not text or text.startswith("#"):
            continue
        wanted = Requirement(text)
        applies = wanted.marker is None or wanted.marker.evaluate(_BOX_ENVIRONMENT)
        if wanted.name in SOURCES or not applies:
            continue
        rows.append(
            " ".join([f"{wanted.name}{wanted.specifier}", *(f"--hash={h}" for h in hashes)])
        )
    return "\n".join(rows) + "\n"


def _sources() -> list[Path]:
    files = [path for path in (ROOT / "appliance").rglob("*") if path.is_file()]
    own = [Path(__file__), _LOCK, ROOT / "pyproject.toml", *(ROOT / name for name in BESIDE),
           *(ROOT / policy.FOLDER).iterdir()]  # fmt: skip
    return sorted([*own, *(path for path in files if "__pycache__" not in path.parts)])


def _content(path: Path) -> bytes:
    return path.read_bytes()


def _dependencies(plan: Plan, root: Path, wheels: list[Path]) -> Path:
    """The folder lib/ with the dependencies, compiled, without our own package."""
    requirements = fitting(_LOCK.read_text())
    inputs = [requirements, plan.version, root.name, Path(__file__).read_text(), *PIP[1:],
              *(str(wheel.relative_to(plan.cache)) for wheel in wheels)]  # fmt: skip

    def write(tree: Path) -> None:
        library = tree / "lib"
        library.mkdir(parents=True)
        requirements_file = plan.work / "dependencies.txt"
        requirements_file.write_text(requirements)
        remedy = "Add a dependency without a wheel for the Pi to image/wheels.py."
        quietly("The release's dependencies cannot be installed", remedy,
                plan.logs / "dependencies.log",
                *PIP, "--require-hashes", "--target", library, "-r", requirements_file,
                progress=_progress)  # fmt: skip
        _unpack(plan, library, wheels)
        _compile(plan, tree, root, "/mnt/lib")

    return once(plan.cache, "dependencies", inputs, write)


def _add_own_package(plan: Plan, tree: Path) -> None:
    """Add our own package, its command and the files beside it to the release in `tree`."""
    library = tree / "lib"
    (tree / "bin").mkdir(parents=True)
    command = tree / "bin/interlude"
    command.write_text(COMMAND)
    command.chmod(0o755)
    wheel_folder = plan.work / "own"
    remove(wheel_folder)
    quietly("Interlude's own wheel cannot be built", "Run `make setup`.", plan.logs / "own.log",
            sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps",
            "--no-build-isolation", "--wheel-dir", wheel_folder, ROOT)  # fmt: skip
    _unpack(plan, library, list(wheel_folder.glob("*.whl")))
    if forbidden := licences.copyleft(library):
        raise NotBuilt(" ".join(forbidden), "It may only be part of a voice's program: voices/.")
    lay_beside(tree)


def _unpack(plan: Plan, library: Path, wheels: list[Path]) -> None:
    remedy = "Add a dependency without a wheel for the Pi to image/wheels.py."
    quietly("The wheels cannot be unpacked", remedy, plan.logs / "wheels.log",
            *PIP, "--no-index", "--target", library, *wheels)  # fmt: skip
    # bin has scripts with this machine's paths, include and lib llama.cpp's headers and its copy.
    for name in ("bin", "include", "lib"):
        shutil.rmtree(library / name, ignore_errors=True)
    for record in library.glob("*.dist-info"):
        for name in ("RECORD", "direct_url.json", "INSTALLER", "REQUESTED"):
            (record / name).unlink(missing_ok=True)  # how pip installed here: not reproducible


def _compile(plan: Plan, tree: Path, root: Path, source: str) -> None:
    """Compile `source` here, since a release is read-only on the box.

    The .pyc files are hash-based and not checked against the source, so they are reproducible.
    """
    destination = f"/opt/interlude/releases/{plan.version}"
    words = ["python3", "-m", "compileall", "-q", "-j", "0", "--invalidation-mode",
             "unchecked-hash", "-s", "/mnt", "-p", destination, source]  # fmt: skip
    with (plan.logs / "compile.log").open("ab") as file:
        # Files that are not valid Python of this version stay uncompiled; the exit code is then 1.
        subprocess.run(inside.command(root, words, {tree: "/mnt"}), stdout=file, stderr=file,
                       check=False)  # fmt: skip


def _progress(line: str) -> str | None:
    found = re.match(r"(?:Collecting|Downloading) (\S+)", line)
    return f"fetching {found[1]}"[:60] if found else None
