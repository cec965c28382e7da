"""Bundles of voice programs: what is signed and fits is installed; what is not costs nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import InstallDeferred, ReleaseRefused, StorageError
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.install_lock import locked
from appliance.update.release.archive import ReleaseArchive
from appliance.update.release.disk_changes import Disk
from appliance.update.release.pack import pack as pack_release
from appliance.voice.engine import store
from appliance.voice.engine.archive import EngineArchive
from appliance.voice.engine.check import self_check
from appliance.voice.engine.installer import EngineInstaller
from appliance.voice.engine.pack import pack
from appliance.voice.protocol import PROTOCOL
from tests.update.release.workshop import MADE_S, Workshop

pytestmark = pytest.mark.process


SAID: dict[str, Any] = {"engine": "piper", "protocol": PROTOCOL, "licence": "any", "machine": "any",
        "python": "any", "made_s": MADE_S}  # fmt: skip


@dataclass
class Bench:
    """A maker of bundles, and a folder of programs."""

    workshop: Workshop
    root: Path

    def make(self, version: str = "0.1.0", *, key: Path | None = None, runs: str = "true",
             name: str = "", **said: Any) -> Path:  # fmt: skip
        tree = self.workshop.folder / f"voice-{version}-{name}"
        (tree / "bin").mkdir(parents=True, exist_ok=True)
        (tree / "bin/voice").write_text(f"#!/bin/sh\n{runs}\n")
        (tree / "bin/voice").chmod(0o755)
        (tree / "version").write_text(f"{version} {name}")
        into = self.workshop.folder / f"made-{name}"
        into.mkdir(exist_ok=True)
        return pack(tree, into, key or self.workshop.key, **{**SAID, "version": version, **said})

    def installer(
        self, tries: Callable[[Path], str] = lambda _: "", **more: object
    ) -> EngineInstaller:
        told = {"clock_s": lambda: float(MADE_S), **more}
        return EngineInstaller(self.root, tries, self.workshop.signers, **told)  # type: ignore[arg-type]

    def here(self) -> list[str]:
        """Versions that a speaker would find."""
        return [each.manifest.version for each in store.installed(self.root)]

    def left_over(self) -> list[str]:
        """What is neither a program nor the lock."""
        return sorted(path.name for path in self.root.glob(".*") if path.name != ".lock")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    folder = tmp_path / "workshop"
    folder.mkdir()
    return Bench(Workshop(folder), tmp_path / "voices")


def test_a_signed_bundle_is_installed_and_takes_the_place_of_the_one_before(bench: Bench) -> None:
    manifest, changed = bench.installer().install(bench.make("0.1.0"))
    assert (manifest.version, changed, bench.here()) == ("0.1.0", True, ["0.1.0"])
    bench.installer().install(bench.make("0.2.0"))
    assert bench.here() == ["0.2.0"]
    found = store.engine(bench.root, "piper")
    assert found is not None
    assert os.access(found.command(Path("x"))[0], os.X_OK)
    assert sorted(path.name for path in bench.root.iterdir()) == [".lock", "piper-0.2.0"]


def test_the_same_again_changes_nothing(bench: Bench) -> None:
    file = bench.make()
    bench.installer().install(file)
    _, changed = bench.installer(lambda _: "tried again").install(file)
    assert not changed


def test_the_same_version_with_other_files_takes_its_place(bench: Bench) -> None:
    bench.installer().install(bench.make(name="first"))
    bench.installer().install(bench.make(name="second"))
    (found,) = store.installed(bench.root)
    assert (found.folder / "version").read_text() == "0.1.0 second"


def spoil(file: Path, at: int) -> Path:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
    return file


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda b: b.make("0.2.0", key=b.workshop.new_key("other")), "not signed by anybody"),
        (lambda b: spoil(b.make("0.2.0"), 600), "not signed by anybody"),
        (lambda b: spoil(b.make("0.2.0"), 2700), "damaged, or was changed"),
        (lambda b: b.make("0.2.0", machine="pdp11"), "made for pdp11; this box is"),
        (lambda b: b.make("0.2.0", python="2.7"), "made for Python 2.7; this box has"),
        (lambda b: b.make("0.2.0", protocol=9), "speaks protocol 9"),
        (lambda b: b.make("0.0.9"), "older than 0.1.0"),
        (lambda b: b.make("0.2.0", made_s=MADE_S + 999_999), "clock"),
        (lambda b: b.workshop.make("0.2.0"), "is no voice program"),
        (lambda b: b.workshop.signers, "is no voice program"),
    ],
)
def test_a_bad_bundle_is_refused_with_a_sentence_and_costs_nothing(
    bench: Bench, bad: Callable[[Bench], Path], said: str
) -> None:
    bench.installer().install(bench.make("0.1.0"))
    with pytest.raises(ReleaseRefused, match=said):
        bench.installer().install(bad(bench))
    assert bench.here() == ["0.1.0"]
    assert bench.left_over() == []


def test_a_program_whose_own_check_fails_is_not_kept(bench: Bench) -> None:
    bench.installer().install(bench.make("0.1.0"))
    with pytest.raises(ReleaseRefused, match="does not run here: no such library"):
        bench.installer(lambda _: "no such library").install(bench.make("0.2.0"))
    assert bench.here() == ["0.1.0"]
    assert bench.left_over() == []


@pytest.mark.parametrize(
    ("runs", "said"),
    [("exit 0", ""), ("echo no such library >&2; exit 1", "no such library"),
     ("exit 7", "its check ended with code 7")],
)  # fmt: skip
def test_its_check_is_heard(bench: Bench, runs: str, said: str) -> None:
    bench.make(runs=runs)
    assert self_check(bench.workshop.folder / "voice-0.1.0-") == said


def test_its_check_runs_in_the_sandbox(bench: Bench) -> None:
    place = bench.workshop.folder / "written"
    bench.make(runs=f"echo word >{place}")
    assert self_check(bench.workshop.folder / "voice-0.1.0-")
    assert not place.exists() or not place.read_bytes()


def test_neither_kind_of_archive_is_taken_for_the_other(bench: Bench) -> None:
    """The signature is of the manifest alone: re-wrapped under the other's name it still holds."""
    tree = bench.workshop.folder / "tree"
    tree.mkdir()
    release = pack_release(tree, bench.workshop.folder, bench.workshop.key, version="0.2.0",
                           machine="any", python="any", made_s=MADE_S)  # fmt: skip
    bundle = bench.make("0.2.0")
    for file, old, new, kind in (
        (release, b"release.json", b"voice.json", EngineArchive),
        (bundle, b"voice.json", b"release.json", ReleaseArchive),
    ):
        wrapped = _renamed(file, old, new)
        with (
            HandedOverFile(wrapped, 1 << 20) as handed,
            pytest.raises(ReleaseRefused, match="no manifest"),
        ):
            kind(handed, bench.workshop.signers)


def _renamed(file: Path, old: bytes, new: bytes) -> Path:
    """The archive with its manifest's parts under other names, each header's sum made right."""
    data = bytearray(file.read_bytes())
    at = 0
    while at < len(data) and data[at]:
        header = data[at : at + 512]
        name = bytes(header[:100]).rstrip(b"\0").replace(old, new)
        header[:100] = name.ljust(100, b"\0")
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        data[at : at + 512] = header
        size = int(header[124:135], 8)
        at += 512 + -(-size // 512) * 512
    wrapped = file.with_suffix(".wrapped")
    wrapped.write_bytes(data)
    return wrapped


def test_two_installations_at_once_are_one(bench: Bench) -> None:
    bench.installer().install(bench.make())
    with locked(bench.root / ".lock"), pytest.raises(InstallDeferred):
        bench.installer().install(bench.make("0.2.0"))


def test_a_full_disk_is_said_before_anything_is_written(bench: Bench) -> None:
    class Full(Disk):
        def free_bytes(self, folder: Path) -> int:
            return 1 << 20

    with pytest.raises(StorageError, match="are needed for it, and 1 are free"):
        bench.installer(disk=Full()).install(bench.make())
    assert bench.here() == []


def test_wherever_the_power_goes_there_is_a_whole_program(bench: Bench) -> None:
    """After every change on the disk, in a process that is killed there; then once more."""
    first, second = bench.make(name="first"), bench.make(name="second")
    bench.installer().install(first)
    cuts = 0
    while _killed(bench, second, cuts):
        whole = bench.here()
        left = (bench.root / ".piper-0.1.0.aside").exists()
        assert whole == ["0.1.0"] or left, cuts  # named otherwise for the moment of two renames
        bench.installer().install(first)  # and the next installation puts it right
        assert bench.here() == ["0.1.0"]
        assert bench.left_over() == []
        cuts += 1
    assert cuts > 8
    (found,) = store.installed(bench.root)
    assert (found.folder / "version").read_text() == "0.1.0 second"


def _killed(bench: Bench, file: Path, after: int) -> bool:
    """Whether the installation was cut short after so many changes."""

    class Dying(Disk):
        done = 0

        def _done(self) -> None:
            type(self).done += 1
            if type(self).done > after:
                os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        try:
            bench.installer(disk=Dying()).install(file)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)
